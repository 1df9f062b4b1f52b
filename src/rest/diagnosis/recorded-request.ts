import { z } from 'zod';
import { getConnection } from '../../domain/connection/connection.ts';
import { readWithin } from '../../domain/declared-read.ts';
import {
  listConnectionRequests,
  listOperationRequests,
  recordedRequestResource,
} from '../../domain/diagnosis/recorded-request.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getOperation } from '../../domain/operation/operation.ts';
import { id } from '../../ids.ts';
import { pagedEndpoint } from '../endpoint/list.ts';

const path = '/projects/{projectIdOrName}';

export const recordedRequestEndpoints = [
  pagedEndpoint({
    id: 'listOperationRequests',
    path: `${path}/operations/{operationId}/requests`,
    tag: 'Operations',
    input: z.object({ projectIdOrName, operationId: id.describe('The id of the operation.') }),
    list: readWithin(getOperation, listOperationRequests),
    resource: recordedRequestResource,
  }),
  pagedEndpoint({
    id: 'listConnectionRequests',
    path: `${path}/connections/{connectionId}/requests`,
    tag: 'Connections',
    input: z.object({ projectIdOrName, connectionId: id.describe('The id of the connection.') }),
    list: readWithin(getConnection, listConnectionRequests),
    resource: recordedRequestResource,
  }),
];
