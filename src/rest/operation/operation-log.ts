import { z } from 'zod';
import type { OperationLog } from '../../domain/operation/operation-log.ts';
import { resource } from '../openapi/schemas.ts';

export const operationLog = resource('OperationLog', 'A line of the log of an operation.', {
  timestamp: z.date().describe('When it was written.'),
  severity: z.string().describe('DEBUG, INFO, WARNING or ERROR.'),
  message: z
    .object({
      msg: z.string().describe('What happened, for people.'),
      operation_id: z.string().describe('The id of the operation.'),
      details: z
        .record(z.string(), z.string())
        .optional()
        .describe('Facts beside the message, by name; as JSON if they are no texts.'),
    })
    .describe('The message and its facts.'),
});

export function showOperationLog({ operationId, message, details, ...row }: OperationLog) {
  return {
    ...row,
    message: {
      msg: message,
      operation_id: operationId,
      details: details ? showDetails(details) : undefined,
    },
  };
}

function showDetails(details: NonNullable<OperationLog['details']>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(details).map(([name, fact]) => [
      name,
      typeof fact === 'string' ? fact : JSON.stringify(fact),
    ]),
  );
}
