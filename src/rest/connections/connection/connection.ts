import { z } from 'zod';
import { readWithin } from '../../../domain/access/declared-read.ts';
import type { Row } from '../../../domain/access/scope.ts';
import { projectIdOrName } from '../../../domain/base/names.ts';
import {
  deleteConnection,
  getConnection,
  updateConnection,
} from '../../../domain/connections/connection/connection.ts';
import { listPlainCredentials } from '../../../domain/connections/connection/connection-credentials.ts';
import { generateConnection } from '../../../domain/connections/connection/connection-generation.ts';
import { refreshConnectionInput } from '../../../domain/connections/connection/connection-input.ts';
import {
  refreshConnection,
  refreshConnectionIfDue,
} from '../../../domain/connections/connection/connection-refresh.ts';
import {
  credentialFields,
  oauth2Token,
} from '../../../domain/connections/connection/credential-input.ts';
import {
  connectionFilters,
  listConnections,
} from '../../../domain/connections/connection/list/connection-list.ts';
import { listConnectionInstallations } from '../../../domain/integrations/installation/installation-list.ts';
import { getRequestedProject } from '../../../domain/tenants/project/project.ts';
import { id } from '../../../kernel/ids.ts';
import { endpoint, type RestRequest } from '../../endpoint/endpoint.ts';
import { type Form, members } from '../../endpoint/form.ts';
import type { Location } from '../../endpoint/request-form.ts';
import {
  deleteEndpoint,
  joinCreateTime,
  listEndpoint,
  mutationEndpoint,
  splitCreateTime,
} from '../../endpoint/resource-endpoints.ts';
import { installation } from '../../integrations/installation/installation-view.ts';
import { connection } from './connection-view.ts';

const { shape } = oauth2Token;
const domainTokens = credentialFields.oauth2AuthorizationCode;

const token = members<z.output<typeof oauth2Token>>({
  token: shape.token,
  issueTime: ['issuedAt', shape.issueTime],
  expireTime: ['expiresAt', shape.expireTime],
});
const wireToken = z.object(token.schema.shape).meta({ ...oauth2Token.meta() });

function describeToken(member: 'accessToken' | 'refreshToken') {
  const description = domainTokens.shape[member].description as string;
  return { ...token, schema: wireToken.nullish().describe(description) };
}

const tokens = members<z.output<typeof domainTokens>>({
  accessToken: describeToken('accessToken'),
  refreshToken: describeToken('refreshToken'),
  scopes: domainTokens.shape.scopes,
});
const wireTokens = z.object(tokens.schema.shape).meta({ ...domainTokens.meta() });

/** Returns the location of the tokens in the body of a request that creates or updates a connection. */
function locateTokens(wrap: (tokens: z.ZodObject) => z.ZodType): Location {
  const form: Form = { ...tokens, schema: wrap(wireTokens) };
  return { in: 'body', name: 'oauth2AuthorizationCode', form };
}

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
