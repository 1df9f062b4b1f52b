import { notFound } from '../../errors.ts';
import type { OperationItem } from '../../events/operation-changes.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import { byId } from '../scope.ts';
import { orEndUser } from '../viewer/needs.ts';

/** The operation as it is now, then each time that it changes; completes when it has ended. */
export const followOperation = read(
  orEndUser('read'),
  async (call: Call, id: string): Promise<AsyncIterable<OperationItem>> => {
    const [operation] = await byId('Operation')(call, [id]);
    if (!operation) throw notFound('Operation', id);
    return call.operationChanges.follow(operation);
  },
);
