/** Connections as answers show them, with their group, consumer and app. */
import { z } from 'zod';
import type { ShownCredentials, ShownToken } from '../../domain/connection/credentials.ts';
import { consumerResource } from '../../domain/project/consumer.ts';
import { groupResource } from '../../domain/project/group.ts';
import { authScheme } from '../../domain/provider/provider.ts';
import { providerAppResource } from '../../domain/provider/provider-app.ts';
import { byId, type Row } from '../../domain/scope.ts';
import type { RestRequest } from '../endpoint/endpoint.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';
import { responseOf, showResource } from '../openapi/shown-resource.ts';

/** Facts of an account, as the platform shows them: each with where it comes from. */

const SOURCES = ['input', 'token', 'provider'] as const;

const fact = z.object({
  value: z.string().describe('The fact; as JSON if it is no text.'),
  source: z
    .enum(SOURCES)
    .describe(
      "The source of the fact: the builder's input, the response with the token, or the provider.",
    ),
  displayName: z.string().optional().describe('The display name.'),
});

const providerMetadata = z
  .record(z.string(), fact)
  .optional()
  .describe('Further facts of the account, from the builder and the provider, by name.');

type Fact = z.output<typeof fact>;

/** Callers give facts with their source, or plain: a plain one is the builder's. */
function showProviderMetadata(stored: unknown): Record<string, Fact> | undefined {
  if (typeof stored !== 'object' || stored === null) return undefined;
  return Object.fromEntries(Object.entries(stored).map(([name, given]) => [name, showFact(given)]));
}

function showFact(given: unknown): Fact {
  const { data } = fact.safeParse(given);
  if (data) return data;
  return { value: typeof given === 'string' ? given : JSON.stringify(given), source: 'input' };
}

const STATUSES = ['CREATED', 'WORKING', 'BAD_CREDENTIALS'] as const;

const token = resource('OAuth2Token', 'An OAuth token and its lifetime.', {
  token: z.string().describe('The value of the token.'),
  issuedAt: z.date().optional().describe('When it was issued. Absent if unknown.'),
  expiresAt: z.date().optional().describe('When it expires. Absent if unknown.'),
});

const tokens = z.object({
  accessToken: token.optional(),
  refreshToken: token.optional(),
  scopes: z.array(z.string()).describe('The OAuth scopes that the provider granted.'),
});

export const connection = resource(
  'Connection',
  'The connection: an account at a provider that a consumer has connected for a group. Credentials are shown only on request.',
  {
    ...createdShape,
    provider: z.string().describe('The name of the provider.'),
    group: responseOf(groupResource),
    consumer: responseOf(consumerResource),
    providerApp: responseOf(providerAppResource).optional(),
    authScheme: words('AuthScheme', authScheme.options).describe(
      'The scheme by which it authenticates at the provider.',
    ),
    status: words('ConnectionStatus', STATUSES).describe(
      'Whether its credentials work: they are new or just refreshed, accepted, or refused.',
    ),
    tokenExpireTime: z
      .date()
      .optional()
      .describe(
        'When its access token expires. Absent if it has none, if that is unknown, or if the token can no longer be refreshed.',
      ),
    providerWorkspaceRef: z
      .string()
      .optional()
      .describe('The workspace of the account at the provider. Absent if there is none.'),
    providerConsumerRef: z
      .string()
      .optional()
      .describe("The provider's own id of the consumer. Absent if unknown."),
    providerMetadata,
    apiKey: z.string().optional().describe('The API key in clear; only if includeCreds is true.'),
    oauth2AuthorizationCode: tokens
      .optional()
      .describe('The tokens in clear; only if includeCreds or includeRefreshToken is true.'),
    ...updateTimeShape,
  },
);

/** With its credentials, if they are given: for callers who may see them. */
export async function showConnection(
  row: Row<'Connection'>,
  request: RestRequest,
  credentials: ShownCredentials | null = null,
) {
  const { get, find } = request;
  const { providerAppId } = row;
  const [ofGroup, ofConsumer, app] = await Promise.all([
    get(byId('Group'), row.groupId),
    get(byId('Consumer'), row.consumerId),
    providerAppId === null ? null : find(byId('ProviderApp'), providerAppId),
  ]);
  return {
    ...row,
    group: showResource(groupResource, ofGroup, request),
    consumer: showResource(consumerResource, ofConsumer, request),
    providerApp: app ? showResource(providerAppResource, app, request) : undefined,
    authScheme: wordOf('AuthScheme', row.authScheme),
    status: wordOf('ConnectionStatus', row.status),
    tokenExpireTime: row.tokenExpireTime ?? undefined,
    providerWorkspaceRef: row.providerWorkspaceRef ?? undefined,
    providerConsumerRef: row.providerConsumerRef ?? undefined,
    providerMetadata: showProviderMetadata(row.providerMetadata),
    updateTime: row.updateTime ?? undefined,
    ...(credentials && showCredentials(credentials)),
  };
}

function showCredentials({ apiKey, oauth2AuthorizationCode: held }: ShownCredentials) {
  return {
    apiKey: apiKey ?? undefined,
    oauth2AuthorizationCode: held
      ? {
          accessToken: showToken(held.accessToken),
          refreshToken: showToken(held.refreshToken),
          scopes: held.scopes,
        }
      : undefined,
  };
}

function showToken(held: ShownToken | null) {
  if (!held) return undefined;
  const { issuedAt, expiresAt } = held;
  return {
    token: held.token,
    issuedAt: issuedAt ?? undefined,
    expiresAt: expiresAt ?? undefined,
  };
}
