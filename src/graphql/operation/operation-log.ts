import {
  type OperationLog as LogLine,
  listOperationLogs,
  operationLogResource,
} from '../../domain/operation/operation-log.ts';
import { addList } from '../schema/lists.ts';
import { objectType } from '../schema/object-type.ts';
import { builder } from '../schema/schema-builder.ts';
import { createConnection, Operation } from '../schema/types.ts';

const OperationLog = objectType(builder.objectRef<LogLine>('OperationLog'), operationLogResource);

const OperationLogs = createConnection(OperationLog, 'lines of a log');

addList(Operation, 'logs', OperationLogs, listOperationLogs);
