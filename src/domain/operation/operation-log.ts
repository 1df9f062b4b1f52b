import type { Row } from '../../database/rows.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import type { PageArgs } from '../paging/page.ts';
import { listPage } from '../paging/page-of-rows.ts';

export type OperationLog = Row<'OperationLog'>;

/** Lists the lines that an operation logged while it ran, oldest first. */
export const listOperationLogs = read(
  'read',
  'Lists the log of an operation, oldest line first.',
  (call: Call, operation: Row<'Operation'>, args: PageArgs) => {
    const where = { projectId: operation.projectId, operationId: operation.id };
    const list = { name: 'Operation.logs', parentId: operation.id, where } as const;
    return listPage(call, { ...list, table: 'OperationLog', order: 'oldest first' }, args);
  },
);
