/** The stored form of a connection's credentials. Only this module seals and opens them. */

import { z } from 'zod';
import type { ConnectionStatus } from '../../../database/generated/enums.ts';
import type { Row } from '../../../database/statements/tables.ts';
import type { SealedLocation, Vault } from '../../../kernel/secrets.ts';
import { CONSENT_SCHEMES } from '../../../providers/contract.ts';
import { listBasicSecrets } from '../../../work/secret-mask.ts';

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
  /** Custom inputs that the provider's grant exchanges for tokens. The scheme of the connection is NONE. */
  z.object({
    scheme: z.literal('SERVICE_ACCOUNT'),
    custom: z.record(text, z.unknown()),
    token: storedToken.optional(),
  }),
  /**
   * An administrator's consent, which lets the client of the provider app obtain tokens. The workspace is part of the
   * credentials: a caller who changes that of the connection must not get tokens of another organization.
   */
  z.object({
    scheme: z.literal('ADMIN_CONSENT'),
    workspaceRef: text,
    token: storedToken.optional(),
  }),
  /** Values of the provider's custom inputs, by name. Empty if there are none. */
  z.object({ scheme: z.literal('NONE'), custom: z.record(text, z.unknown()) }),
]);

export type Credentials = z.output<typeof credentialsSchema>;

export type ConnectionKey = Pick<Row<'Connection'>, 'id' | 'projectId'>;

/** Stored credentials that were decrypted. */
export interface UnsealedCredentials {
  /** The stored value. Updates of the row compare it, so that they never overwrite newer credentials. */
  sealed: string | null;
  credentials: Credentials;
  /** The addresses for which the credentials were entered. `requireForProvider` compares them. */
  credentialTargets: string | null;
  /** Whether the provider has accepted or rejected the credentials. */
  status: ConnectionStatus;
  /** When the token endpoint rejected a refresh. Null if BAD_CREDENTIALS results from a request. */
  refreshRejectedTime: Date | null;
}

/** Encrypts credentials for a connection. Returns null if they are empty. */
export function sealCredentials(
  { vault }: { vault: Vault },
  connection: ConnectionKey,
  credentials: Credentials,
): string | null {
  if (credentials.scheme === 'NONE' && Object.keys(credentials.custom).length === 0) return null;
  return vault.seal(JSON.stringify(credentials), toSealedLocation(connection));
}

/** Decrypts the result of `sealCredentials`. Throws if it was sealed for another connection. */
export function openCredentials(
  { vault }: { vault: Vault },
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
    case 'ADMIN_CONSENT':
      return listTokens(credentials.token);
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

/** Lists the inputs that are text, and the private keys that they contain as base64. */
function listKeySecrets(inputs: Record<string, unknown>): string[] {
  const texts = Object.values(inputs).filter((value) => typeof value === 'string');
  return [...texts, ...texts.flatMap((value) => findEncodedKey(value) ?? [])];
}

/** Returns the private key in a PEM file or a key file, which are encoded as base64. Null if there is none. */
function findEncodedKey(value: string): string | null {
  const decoded = Buffer.from(value, 'base64').toString('utf8');
  if (decoded.startsWith('-----BEGIN')) return decoded;
  try {
    const file = JSON.parse(decoded);
    return typeof file?.private_key === 'string' ? file.private_key : null;
  } catch {
    return null;
  }
}

function listTexts(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : [];
}

export function parseDate(isoText: string | undefined): Date | null {
  return isoText === undefined ? null : new Date(isoText);
}
