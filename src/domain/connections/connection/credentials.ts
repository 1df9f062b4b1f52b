/** The stored form of a connection's credentials. Only this module seals and opens them. */
import { z } from 'zod';
import type { Row } from '../../../database/rows.ts';
import type { SealedLocation } from '../../../kernel/secrets.ts';
import { CONSENT_SCHEMES } from '../../../providers/contract.ts';
import { listBasicSecrets } from '../../../work/secret-mask.ts';
import type { Call, Services } from '../../access/call.ts';
import { read } from '../../access/declared-read.ts';
import { resource } from '../../base/resource.ts';
import type { ConnectionKey } from './session/stored-credentials.ts';

const text = z.string();
const time = z.iso.datetime();
const scopes = z.array(text);

const storedToken = z.object({
  token: text,
  issuedAt: time.optional(),
  expiresAt: time.optional(),
});
export type StoredToken = z.output<typeof storedToken>;

export const credentialsSchema = z.discriminatedUnion('scheme', [
  z.object({ scheme: z.literal('API_KEY'), apiKey: text }),
  z.object({ scheme: z.literal('BASIC'), username: text, password: text }),
  z.object({
    scheme: z.literal('OAUTH2_CLIENT_CREDENTIALS'),
    clientId: text,
    clientSecret: text,
    scopes,
    token: storedToken.optional(),
  }),
  z.object({
    scheme: z.literal('OAUTH2_PASSWORD'),
    username: text,
    password: text,
    clientId: text,
    clientSecret: text,
    scopes,
    token: storedToken.optional(),
  }),
  z.object({
    scheme: z.enum(CONSENT_SCHEMES),
    accessToken: storedToken.optional(),
    refreshToken: storedToken.optional(),
    scopes,
  }),
  /** Custom inputs that are exchanged for tokens. The scheme of the connection is NONE. */
  z.object({
    scheme: z.literal('SERVICE_ACCOUNT'),
    custom: z.record(text, z.unknown()),
    token: storedToken.optional(),
  }),
  /** Values of the provider's custom inputs, by name. Empty if there are none. */
  z.object({ scheme: z.literal('NONE'), custom: z.record(text, z.unknown()) }),
]);

export type Credentials = z.output<typeof credentialsSchema>;

/** Encrypts credentials for a connection. Returns null if they are empty. */
export function sealCredentials(
  { vault }: Pick<Services, 'vault'>,
  connection: ConnectionKey,
  credentials: Credentials,
): string | null {
  if (credentials.scheme === 'NONE' && Object.keys(credentials.custom).length === 0) return null;
  return vault.seal(JSON.stringify(credentials), toSealedLocation(connection));
}

/** Decrypts the result of `sealCredentials`. Throws if it was sealed for another connection. */
export function openCredentials(
  { vault }: Pick<Services, 'vault'>,
  connection: ConnectionKey,
  sealed: string | null,
): Credentials {
  if (sealed === null) return { scheme: 'NONE', custom: {} };
  return credentialsSchema.parse(JSON.parse(vault.open(sealed, toSealedLocation(connection))));
}

function toSealedLocation({ id, projectId }: ConnectionKey): SealedLocation {
  return { table: 'Connection', column: 'credentialsSealed', row: id, projectId };
}

/** Lists the secrets of credentials, to mask them in texts of the provider. */
export function listSecrets(credentials: Credentials): string[] {
  switch (credentials.scheme) {
    case 'API_KEY':
      return [credentials.apiKey];
    case 'BASIC':
      return listBasicSecrets(credentials.username, credentials.password);
    case 'OAUTH2_CLIENT_CREDENTIALS':
      return [...listClientSecrets(credentials), ...listTokens(credentials.token)];
    case 'OAUTH2_PASSWORD':
      return [
        credentials.password,
        ...listClientSecrets(credentials),
        ...listTokens(credentials.token),
      ];
    case 'SERVICE_ACCOUNT':
      return [...listKeySecrets(credentials.custom), ...listTokens(credentials.token)];
    case 'NONE':
      return listTexts(credentials.custom);
    default:
      return listTokens(credentials.accessToken, credentials.refreshToken);
  }
}

function listTokens(...tokens: (StoredToken | undefined)[]): string[] {
  return tokens.flatMap((stored) => stored?.token ?? []);
}

function listClientSecrets(client: { clientId: string; clientSecret: string }): string[] {
  return listBasicSecrets(client.clientId, client.clientSecret);
}

/** Lists the inputs of a service account that are text, and the private key in its key file. */
function listKeySecrets(inputs: Record<string, unknown>): string[] {
  const texts = Object.values(inputs).filter((value) => typeof value === 'string');
  const keys = texts.flatMap((value) => {
    try {
      const file = JSON.parse(Buffer.from(value, 'base64').toString('utf8'));
      return typeof file?.private_key === 'string' ? [file.private_key] : [];
    } catch {
      return [];
    }
  });
  return [...texts, ...keys];
}

function listTexts(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : [];
}

const oauth2TokenResource = resource('OAuth2Token', 'An OAuth token and its lifetime.', {
  token: z.string().describe('The value of the token.'),
  issueTime: z
    .date()
    .nullable()
    .describe('When it was issued. Null if unknown.')
    .meta({ wireName: 'issuedAt' }),
  expireTime: z
    .date()
    .nullable()
    .describe('When it expires. Null if unknown.')
    .meta({ wireName: 'expiresAt' }),
});

const oauth2TokensResource = resource('OAuth2Tokens', 'The tokens of an OAuth authorization.', {
  accessToken: oauth2TokenResource
    .nullable()
    .describe('The token that authenticates requests to the provider.'),
  refreshToken: oauth2TokenResource
    .nullable()
    .describe('The token that obtains new access tokens.'),
  scopes: z.array(z.string()).describe('The OAuth scopes that the provider granted.'),
});

export const connectionCredentialsResource = resource(
  'ConnectionCredentials',
  'The decrypted credentials of a connection. Only the field of its scheme is set.',
  {
    apiKey: z.string().nullable().describe('The API key. Null for other schemes.'),
    oauth2AuthorizationCode: oauth2TokensResource
      .nullable()
      .describe('Tokens, with or without PKCE. Null for other schemes.'),
  },
);

/** Decrypted credentials, for callers with the scope `credentials:read`. */
export type PlainCredentials = z.output<typeof connectionCredentialsResource>;
type PlainToken = z.output<typeof oauth2TokenResource>;

/**
 * Lists the decrypted credentials of connections that the viewer has read. Null for schemes whose credentials the API
 * does not return.
 */
export const listPlainCredentials = read(
  'credentials:read',
  'The decrypted credentials. Null if the API does not return credentials of this scheme.',
  async (
    call: Call,
    connections: readonly Row<'Connection'>[],
  ): Promise<(PlainCredentials | null)[]> => {
    const rows = await call.database.prisma.connection.findMany({
      where: {
        id: { in: connections.map(({ id }) => id) },
        projectId: { in: [...new Set(connections.map(({ projectId }) => projectId))] },
      },
      select: { id: true, credentialsSealed: true },
    });
    const sealedById = new Map(rows.map((row) => [row.id, row.credentialsSealed]));
    return connections.map((connection) =>
      toPlainCredentials(openCredentials(call, connection, sealedById.get(connection.id) ?? null)),
    );
  },
);

function toPlainCredentials(credentials: Credentials): PlainCredentials | null {
  switch (credentials.scheme) {
    case 'API_KEY':
      return { apiKey: credentials.apiKey, oauth2AuthorizationCode: null };
    case 'OAUTH2_AUTHORIZATION_CODE':
    case 'OAUTH2_AUTHORIZATION_CODE_PKCE':
      return {
        apiKey: null,
        oauth2AuthorizationCode: {
          accessToken: toPlainToken(credentials.accessToken),
          refreshToken: toPlainToken(credentials.refreshToken),
          scopes: credentials.scopes,
        },
      };
    default:
      return null;
  }
}

function toPlainToken(stored: StoredToken | undefined): PlainToken | null {
  if (!stored) return null;
  const { token, issuedAt, expiresAt } = stored;
  return { token, issueTime: parseDate(issuedAt), expireTime: parseDate(expiresAt) };
}

export function parseDate(isoText: string | undefined): Date | null {
  return isoText === undefined ? null : new Date(isoText);
}
