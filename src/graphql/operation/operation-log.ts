import {
  type OperationLog as LogLine,
  listOperationLogs,
} from '../../domain/operation/operation-log.ts';
import { listField } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { builder } from '../schema/schema-builder.ts';
import { connectionOf, Operation } from '../schema/types.ts';

const LogSeverity = enumType('LogSeverity', 'How much a line of a log matters.', {
  DEBUG: 'For those who look for a cause.',
  INFO: 'The course of the work.',
  WARNING: 'Something went wrong that did not stop the work.',
  ERROR: 'Something failed.',
});

const OperationLog = builder.objectRef<LogLine>('OperationLog').implement({
  description: "A line of an operation's log.",
  fields: (t) => ({
    timestamp: t.expose('timestamp', { type: 'DateTime', description: 'When it was written.' }),
    severity: t.expose('severity', { type: LogSeverity, description: 'How much it matters.' }),
    message: t.exposeString('message', { description: 'What happened, for people.' }),
    details: t.expose('details', {
      type: 'JSONObject',
      nullable: true,
      description: 'What belongs to the message, by name.',
    }),
  }),
});

const OperationLogs = connectionOf(OperationLog, 'lines of a log');

builder.objectField(Operation, 'logs', (t) =>
  listField(t, OperationLogs, {
    description: 'What it told while it ran, oldest first.',
    list: listOperationLogs,
  }),
);
