import { notFound } from '../../errors.ts';
import type { OperationItem } from '../../events/operation-changes.ts';
import type { Call } from '../call.ts';
import { byId } from '../scope.ts';
import { authorize } from '../viewer/viewer.ts';

/** The operation as it is now, then each time that it changes; completes when it has ended. */
export async function followOperation(
  call: Call,
  id: string,
): Promise<AsyncIterable<OperationItem>> {
  authorize(call.viewer, 'read');
  const [operation] = await byId('Operation')(call, [id]);
  if (!operation) throw notFound('Operation', id);
  return call.operationChanges.follow(operation);
}
