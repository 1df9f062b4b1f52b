/** Lists requests to providers that were recorded for diagnosis, with their responses. */
import { z } from 'zod';
import { listWriteTasks } from '../../../database/statements/hot/store-requests.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { load } from '../../access/batched.ts';
import type { Call } from '../../access/call.ts';
import { read } from '../../access/declared-read.ts';
import type { PageArgs } from '../../access/paging/page.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import type { Batch } from '../../access/scope.ts';
import { enumeration, jsonObject, resource } from '../../base/resource.ts';
import { OPERATION_REQUESTS_MAX } from './request-recorder.ts';

const requestKind = enumeration('RequestKind', 'The purpose of a request to a provider.', {
  API: 'Reads or changes data of the account.',
  PROXY: 'Forwards a request of a caller.',
  TOKEN: 'Requests an access token.',
} satisfies Record<Row<'RecordedRequest'>['kind'], string>);

export const recordedRequestResource = resource(
  'RecordedRequest',
  'A request to a provider and its response, recorded for diagnosis. Credentials and record values are replaced by `***`. The request is deleted after the number of hours in the server setting REQUEST_RETENTION_HOURS.',
  {
    createTime: z.date().describe('When the request began.'),
    kind: requestKind.describe('The purpose of the request.'),
    method: z.string().describe('The HTTP method.'),
    host: z.string().describe("The host of the provider's API."),
    path: z
      .string()
      .describe('The path and the query. Values of the query are `***`, except short numbers.'),
    responseStatus: z
      .int()
      .nullable()
      .describe('The HTTP status of the response. {Null} if there was none.'),
    error: z.string().nullable().describe('Why there was no response. {Null} if there was one.'),
    durationMs: z
      .int()
      .describe(
        'The time from the request to the response, in milliseconds. For a forwarded request, to the beginning of the response.',
      ),
    requestHeaders: jsonObject.describe(
      'The headers of the request by name. Values are `***`, except the values of ordinary headers.',
    ),
    responseHeaders: jsonObject
      .nullable()
      .describe('The headers of the response by name. {Null} if there was no response.'),
    responseBody: z
      .string()
      .nullable()
      .describe(
        'The beginning of the body of a failed response, at most 4 KiB, or a note that it is not text. {Null} for other responses and for forwarded requests.',
      ),
  },
);

export const listOperationRequests = read(
  'payloads:read',
  `Lists requests that an operation sent to the provider, newest first. At most ${OPERATION_REQUESTS_MAX} are kept, and failed requests take precedence. Records that were written together share their requests.`,
  async (call: Call, operation: Row<'Operation'>, args: PageArgs) => {
    const { id, projectId } = operation;
    const operationId = await load(call, loadRecordedOperationIds, operation);
    const list = { name: 'Operation.requests', parentId: id, table: 'RecordedRequest' } as const;
    return listPage(call, { ...list, where: { projectId, operationId } }, args);
  },
);

export const listConnectionRequests = read(
  'payloads:read',
  'Lists requests that the gateway sent for a connection outside of operations, newest first: token requests, and other requests that failed.',
  (call: Call, { id: connectionId, projectId }: Row<'Connection'>, args: PageArgs) => {
    const list = {
      name: 'Connection.requests',
      parentId: connectionId,
      table: 'RecordedRequest',
    } as const;
    return listPage(call, { ...list, where: { projectId, connectionId } }, args);
  },
);

/**
 * Loads the id under which the requests of an operation are recorded. For a write, it is the id of the write task, which
 * equals the id of the first operation in it.
 */
const loadRecordedOperationIds: Batch<Row<'Operation'>, string> = async (call, operations) => {
  const taskIds = await listWriteTasks(call.database.run, operations);
  return operations.map(({ id }) => taskIds.get(id) ?? id);
};
