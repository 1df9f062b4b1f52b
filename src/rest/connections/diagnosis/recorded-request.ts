import { z } from 'zod';
import { projectRead, readWithin } from '../../../domain/access/declared-read.ts';
import { getProjectRow } from '../../../domain/access/scope.ts';
import { projectIdOrName } from '../../../domain/base/names.ts';
import {
  listConnectionRequests,
  listOperationRequests,
  recordedRequestResource,
} from '../../../domain/connections/diagnosis/recorded-request.ts';
import { id } from '../../../kernel/ids.ts';
import { pagedEndpoint } from '../../endpoint/resource-endpoints.ts';

const path = '/projects/{projectIdOrName}';

/** Needs only `payloads:read`: a key without the scope to read operations may read their requests. */
const getParentOperation = projectRead(
  listOperationRequests.needs,
  'Finds an operation.',
  (call, { operationId }: { operationId: string }, { id: projectId }) =>
    getProjectRow(call, 'Operation', { projectId, id: operationId, noun: 'Operation' }),
);
const getParentConnection = projectRead(
  listConnectionRequests.needs,
  'Finds a connection.',
  (call, { connectionId }: { connectionId: string }, { id: projectId }) =>
    getProjectRow(call, 'Connection', { projectId, id: connectionId, noun: 'Connection' }),
);

export const recordedRequestEndpoints = [
  pagedEndpoint({
    id: 'listOperationRequests',
    path: `${path}/operations/{operationId}/requests`,
    tag: 'Operations',
    input: z.object({ projectIdOrName, operationId: id.describe('The id of the operation.') }),
    list: readWithin(getParentOperation, listOperationRequests),
    resource: recordedRequestResource,
  }),
  pagedEndpoint({
    id: 'listConnectionRequests',
    path: `${path}/connections/{connectionId}/requests`,
    tag: 'Connections',
    input: z.object({ projectIdOrName, connectionId: id.describe('The id of the connection.') }),
    list: readWithin(getParentConnection, listConnectionRequests),
    resource: recordedRequestResource,
  }),
];
