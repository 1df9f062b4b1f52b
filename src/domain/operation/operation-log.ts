/** The log that an operation writes while it runs. */
import { z } from 'zod';
import type { LogSeverity } from '../../database/generated/enums.ts';
import type { Row } from '../../database/rows.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import type { PageArgs } from '../paging/page.ts';
import { listPage } from '../paging/page-of-rows.ts';
import { computed, enumeration, jsonObject, resource } from '../resource.ts';

export type OperationLog = Row<'OperationLog'>;

const logSeverity = enumeration('LogSeverity', 'The severity of a line of an operation log.', {
  DEBUG: 'A detail that helps to find a cause.',
  INFO: 'A step of the work.',
  WARNING: 'A failure that did not stop the work.',
  ERROR: 'A failure that stopped the work, or a part of it.',
} satisfies Record<LogSeverity, string>);

export const operationLogResource = resource('OperationLog', 'A line of the log of an operation.', {
  createTime: computed(
    z.date().describe('When the line was written.').meta({ wireName: 'timestamp' }),
    ({ timestamp }: OperationLog) => timestamp,
  ),
  severity: logSeverity.describe('The severity of the line.'),
  message: z.string().describe('A human-readable message.'),
  details: jsonObject.nullable().describe('Facts about the line, by name.'),
});

export const listOperationLogs = read(
  'read',
  'Lists the log of an operation, oldest line first.',
  (call: Call, operation: Row<'Operation'>, args: PageArgs) => {
    const where = { projectId: operation.projectId, operationId: operation.id };
    const list = { name: 'Operation.logs', parentId: operation.id, where } as const;
    return listPage(call, { ...list, table: 'OperationLog', order: 'oldest first' }, args);
  },
);
