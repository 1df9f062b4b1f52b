/** The credentials of a connection as the API returns them. */

import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import type { Call } from '../../access/call.ts';
import { read } from '../../access/declared-read.ts';
import { resource } from '../../base/resource.ts';
import { type Credentials, openCredentials, parseDate, type StoredToken } from './credentials.ts';

const oauth2TokenResource = resource('OAuth2Token', 'An OAuth token and its lifetime.', {
  token: z.string().describe('The value of the token.'),
  issueTime: z
    .date()
    .nullable()
    .describe('When it was issued. {Null} if unknown.')
    .meta({ wireName: 'issuedAt' }),
  expireTime: z
    .date()
    .nullable()
    .describe('When it expires. {Null} if unknown.')
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
