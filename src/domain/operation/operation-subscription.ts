import type { Row } from '../../database/rows.ts';
import { notFound } from '../../errors.ts';
import type { Call } from '../call.ts';
import { byId } from '../scope.ts';
import { authorize } from '../viewer/viewer.ts';

/** The operation as it is now, then each time that it changes; completes when it has ended. */
export async function followOperation(
  call: Call,
  id: string,
): Promise<AsyncIterable<Row<'Operation'>>> {
  authorize(call.viewer, 'read');
  const [operation] = await byId('Operation')(call, [id]);
  if (!operation) throw notFound('Operation', id);
  return call.operationChanges.follow(operation);
}
