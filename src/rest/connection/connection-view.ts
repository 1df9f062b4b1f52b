/** Connections as answers show them, with their group, consumer and app. */
import { z } from 'zod';
import type { ShownCredentials, ShownToken } from '../../domain/connection/credentials.ts';
import type { Relations } from '../../domain/relations.ts';
import { byId, type Row } from '../../domain/scope.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';
import { consumer, showConsumer } from '../project/consumer.ts';
import { group, showGroup } from '../project/group.ts';
import { authScheme } from '../provider/provider.ts';
import { providerApp, showProviderApp } from '../provider/provider-app.ts';

export const CONNECTION_STATUSES = ['CREATED', 'WORKING', 'BAD_CREDENTIALS'] as const;

const token = resource('OAuth2Token', 'A token and its lifetime.', {
  token: z.string().describe('The token.'),
  issuedAt: z.date().optional().describe('When it was issued, where that is known.'),
  expiresAt: z.date().optional().describe('When it ends, where that is known.'),
});

const tokens = z.object({
  accessToken: token.optional(),
  refreshToken: token.optional(),
  scopes: z.array(z.string()).describe('The scopes that were granted.'),
});

export const connection = resource(
  'Connection',
  'A group and a consumer linked to one provider. Credentials are shown only where they are asked for.',
  {
    ...createdShape,
    provider: z.string().describe('The provider of the catalogue.'),
    group,
    consumer,
    providerApp: providerApp.optional(),
    authScheme: authScheme.describe('How it proves itself to the provider.'),
    status: words('ConnectionStatus', CONNECTION_STATUSES).describe(
      'What is known of its credentials: new or just refreshed, accepted, or refused.',
    ),
    providerWorkspaceRef: z
      .string()
      .optional()
      .describe('The workspace at the provider, where it is known.'),
    providerConsumerRef: z
      .string()
      .optional()
      .describe("The provider's own id of the consumer, where it is known."),
    providerMetadata: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Further facts of the account.'),
    apiKey: z.string().optional().describe('The API key in clear, where it is asked for.'),
    oauth2AuthorizationCode: tokens
      .optional()
      .describe('The tokens in clear, where they are asked for.'),
    ...updateTimeShape,
  },
);

/** With what is given of its credentials, for callers who may see them. */
export async function showConnection(
  row: Row<'Connection'>,
  { get, find }: Relations,
  credentials: ShownCredentials | null = null,
) {
  const { providerAppId } = row;
  const [ofGroup, ofConsumer, app] = await Promise.all([
    get(byId('Group'), row.groupId),
    get(byId('Consumer'), row.consumerId),
    providerAppId === null ? null : find(byId('ProviderApp'), providerAppId),
  ]);
  return {
    ...row,
    group: showGroup(ofGroup),
    consumer: showConsumer(ofConsumer),
    providerApp: app ? showProviderApp(app) : undefined,
    authScheme: wordOf('AuthScheme', row.authScheme),
    status: wordOf('ConnectionStatus', row.status),
    providerWorkspaceRef: row.providerWorkspaceRef ?? undefined,
    providerConsumerRef: row.providerConsumerRef ?? undefined,
    providerMetadata: (row.providerMetadata ?? undefined) as Record<string, unknown> | undefined,
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
