import { z } from 'zod';
import {
  deleteConnection,
  getConnection,
  updateConnection,
} from '../../domain/connection/connection.ts';
import { generateConnection } from '../../domain/connection/connection-generation.ts';
import { refreshConnectionInput } from '../../domain/connection/connection-input.ts';
import {
  refreshConnection,
  refreshConnectionIfDue,
} from '../../domain/connection/connection-refresh.ts';
import { listPlainCredentials } from '../../domain/connection/credentials.ts';
import {
  connectionFilters,
  listConnections,
} from '../../domain/connection/list/connection-list.ts';
import { readWithin } from '../../domain/declared-read.ts';
import { listConnectionInstallations } from '../../domain/installation/installation-list.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getRequestedProject } from '../../domain/project/project.ts';
import type { Row } from '../../domain/scope.ts';
import { id } from '../../ids.ts';
import { endpoint, type RestRequest } from '../endpoint/endpoint.ts';
import { joinCreateTime, listEndpoint, splitCreateTime } from '../endpoint/list.ts';
import { deleteEndpoint, mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import { installation } from '../installation/installation-view.ts';
import { connection } from './connection-view.ts';
import { locateTokens } from './tokens-form.ts';

const tag = 'Connections';
const path = '/projects/{projectIdOrName}/connections';

const getConnectionInput = z.object({
  ...refreshConnectionInput.shape,
  includeCreds: z
    .boolean()
    .default(false)
    .describe(
      'Whether the response includes the API key, or the access token and its scopes. Default: false.',
    ),
  includeRefreshToken: z
    .boolean()
    .default(false)
    .describe(
      'Whether the response includes the refresh token, and everything that includeCreds adds. Default: false.',
    ),
  refresh: z
    .enum(['force', 'ifExpired'])
    .optional()
    .describe(
      'Refreshes the access token first: always, or only if it is missing or about to expire. Default: no refresh.',
    ),
});

export const connectionEndpoints = [
  listEndpoint({
    id: 'listConnections',
    path,
    tag,
    input: z.object({ projectIdOrName, ...splitCreateTime(connectionFilters.shape) }),
    list: joinCreateTime(readWithin(getRequestedProject, listConnections)),
    resource: connection,
  }),
  mutationEndpoint({
    id: 'generateConnection',
    method: 'POST',
    path: `${path}:generate`,
    tag,
    mutation: generateConnection,
    locations: { oauth2AuthorizationCode: locateTokens((tokens) => tokens.nullish()) },
    status: 201,
    resource: connection,
  }),
  endpoint({
    id: 'getConnection',
    method: 'GET',
    path: `${path}/{connectionId}`,
    tag,
    summary: getConnection.description,
    needs: getConnection.needs,
    memberNeeds: {
      includeCreds: listPlainCredentials.needs,
      includeRefreshToken: listPlainCredentials.needs,
      refresh: refreshConnection.needs,
    },
    input: getConnectionInput,
    status: 200,
    resource: connection,
    run: readConnection,
  }),
  listEndpoint({
    id: 'listConnectionInstallations',
    path: `${path}/{connectionId}/installations`,
    tag,
    input: z.object({ projectIdOrName, connectionId: id.describe('The id of the connection.') }),
    list: readWithin(getConnection, listConnectionInstallations),
    resource: installation,
  }),
  mutationEndpoint({
    id: 'updateConnection',
    method: 'PATCH',
    path: `${path}/{connectionId}`,
    tag,
    mutation: updateConnection,
    locations: {
      oauth2AuthorizationCode: locateTokens((tokens) => tokens.optional()),
      skipCheck: { in: 'query', name: 'skipCheck' },
    },
    mask: 'connection',
    status: 200,
    resource: connection,
  }),
  deleteEndpoint({
    id: 'deleteConnection',
    path: `${path}/{connectionId}`,
    tag,
    mutation: deleteConnection,
  }),
];

async function readConnection(
  request: RestRequest,
  { includeCreds, includeRefreshToken, refresh, ...key }: z.output<typeof getConnectionInput>,
) {
  const reads = {
    force: refreshConnection,
    ifExpired: refreshConnectionIfDue,
    never: getConnection,
  };
  const row: Row<'Connection'> = await reads[refresh ?? 'never'](request.call, key);
  if (!includeCreds && !includeRefreshToken) return row;
  const credentials = await request.find(listPlainCredentials, row);
  const { oauth2AuthorizationCode: tokens } = credentials ?? {};
  if (!tokens || includeRefreshToken) return { ...row, ...credentials };
  return { ...row, oauth2AuthorizationCode: { ...tokens, refreshToken: null } };
}
