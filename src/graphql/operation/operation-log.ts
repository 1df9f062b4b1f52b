import {
  type OperationLog as LogLine,
  listOperationLogs,
} from '../../domain/operation/operation-log.ts';
import { listField } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { builder } from '../schema/schema-builder.ts';
import { connectionOf, Operation } from '../schema/types.ts';

const LogSeverity = enumType('LogSeverity', 'The severity of a line of an operation log.', {
  DEBUG: 'A detail that helps to find a cause.',
  INFO: 'A step of the work.',
  WARNING: 'A failure that did not stop the work.',
  ERROR: 'A failure that stopped the work, or a part of it.',
});

const OperationLog = builder.objectRef<LogLine>('OperationLog').implement({
  description: 'A line of the log of an operation.',
  fields: (t) => ({
    createTime: t.expose('timestamp', { type: 'DateTime', description: 'When it was written.' }),
    severity: t.expose('severity', { type: LogSeverity, description: 'The severity of the line.' }),
    message: t.exposeString('message', { description: 'What happened, for people.' }),
    details: t.expose('details', {
      type: 'JSONObject',
      nullable: true,
      description: 'Facts about the line, by name.',
    }),
  }),
});

const OperationLogs = connectionOf(OperationLog, 'lines of a log');

builder.objectField(Operation, 'logs', (t) =>
  listField(t, OperationLogs, {
    list: listOperationLogs,
  }),
);
