/** Verifies builders' bearer tokens: JWTs of a configured issuer, or of a local issuer for development. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CryptoKey,
  createLocalJWKSet,
  createRemoteJWKSet,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTVerifyGetKey,
  jwtVerify,
  SignJWT,
} from 'jose';
import { z } from 'zod';
import { isUniqueViolation } from '../../../database/connect/violations.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { writeFileAtomically } from '../../../kernel/atomic-file.ts';
import { StartRefused, unauthenticated } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Config } from '../../../settings/config.ts';
import { requireParsed } from '../../../work/bounded-parse.ts';
import { isStorableString } from '../../base/storable-json.ts';
import type { RowServices } from '../call.ts';
import { createOrgRoles, type OrgRoles } from './org-role.ts';

export const LOCAL_ISSUER = 'urn:integration-gateway:local-issuer';
/** The file with the local issuer's key, in DATA_DIR. */
export const LOCAL_ISSUER_FILE = 'issuer-key.json';
const LOCAL_ALGORITHM = 'ES256';
const LOCAL_LIFETIME = '30d';
/** The tolerated difference between the clocks of an issuer and this machine. */
export const CLOCK_TOLERANCE_SECONDS = 30;
/** How far ahead the time of issue may be. jose and openid-client do not check it. */
const ISSUED_AHEAD_SECONDS_MAX = 60;

/** Issuers and subjects are compared exactly. Display names are trimmed. */
const identifier = z.string().min(1).max(256).refine(isStorableString);
const displayName = identifier.transform((name) => name.trim()).pipe(z.string().min(1));
const bearerClaims = z.object({
  iss: identifier,
  sub: identifier,
  iat: z
    .number()
    .refine((seconds) => seconds <= Date.now() / 1_000 + ISSUED_AHEAD_SECONDS_MAX)
    .optional(),
  email: z.email().max(254).toLowerCase().optional().catch(undefined),
  email_verified: z.boolean().optional().catch(false),
  given_name: displayName.optional().catch(undefined),
  family_name: displayName.optional().catch(undefined),
  name: displayName.optional().catch(undefined),
});
export type BearerClaims = Omit<z.output<typeof bearerClaims>, 'iat'>;

/**
 * Returns the claims that identify a builder. `emailsVerified` is the default of `email_verified`. Throws a ZodError
 * for claims without an issuer or a subject, or if the time of issue is more than a minute ahead.
 */
export function readBearerClaims(payload: object, emailsVerified: boolean): BearerClaims {
  const { iat: _issueTime, ...claims } = requireParsed(bearerClaims, payload);
  return { ...claims, email_verified: claims.email_verified ?? emailsVerified };
}

export interface BearerVerifier {
  /**
   * Returns the claims of a token. Its audience must be BEARER_AUDIENCE or the resource. Throws UNAUTHENTICATED if the
   * token is invalid or expired.
   */
  verify(token: string, resource?: string): Promise<BearerClaims>;
  /** Signs a token of the local issuer. It is valid for 30 days by default. Null if another issuer is configured. */
  mint:
    | ((claims: Omit<BearerClaims, 'iss'>, options?: { lifetime: string }) => Promise<string>)
    | null;
}

/** True if the gateway issues the bearer tokens itself. */
export function hasLocalIssuer({ BEARER_ISSUER }: Config): boolean {
  return !BEARER_ISSUER;
}

export async function createBearerVerifier(config: Config): Promise<BearerVerifier> {
  const { BEARER_ISSUER: issuer, BEARER_JWKS_URL: url } = config;
  if (issuer && url) {
    const keys = createRemoteJWKSet(new URL(url));
    return {
      verify: createTokenVerifier(keys, issuer, config.BEARER_ALGORITHMS, config),
      mint: null,
    };
  }
  const { privateKey, publicJwk } = await loadLocalKeys(config.DATA_DIR);
  const keys = createLocalJWKSet({ keys: [publicJwk] });
  return {
    verify: createTokenVerifier(keys, LOCAL_ISSUER, [LOCAL_ALGORITHM], config),
    mint: (claims, { lifetime } = { lifetime: LOCAL_LIFETIME }) =>
      new SignJWT({ email_verified: true, ...claims })
        .setProtectedHeader({ alg: LOCAL_ALGORITHM })
        .setIssuer(LOCAL_ISSUER)
        .setAudience(config.BEARER_AUDIENCE)
        .setIssuedAt()
        .setExpirationTime(lifetime)
        .sign(privateKey),
  };
}

function createTokenVerifier(
  keys: JWTVerifyGetKey,
  issuer: string,
  algorithms: string[],
  config: Config,
): BearerVerifier['verify'] {
  const options = {
    issuer,
    algorithms,
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    requiredClaims: ['exp', 'sub'],
  };
  return async (token, resource) => {
    const audience = [config.BEARER_AUDIENCE, ...(resource === undefined ? [] : [resource])];
    try {
      const { payload } = await jwtVerify(token, keys, { ...options, audience });
      return readBearerClaims(payload, config.BEARER_EMAILS_VERIFIED);
    } catch (error) {
      const code = (error as { code?: string }).code ?? 'ERR_JWT_CLAIMS';
      throw unauthenticated(`The bearer token is not accepted (${code}).`);
    }
  };
}

/** Returns the key pair of the local issuer. The first start creates it. */
async function loadLocalKeys(dataDir: string): Promise<{ privateKey: CryptoKey; publicJwk: JWK }> {
  const path = join(dataDir, LOCAL_ISSUER_FILE);
  const privateJwk = readJwk(path) ?? (await createJwk(path));
  const { kty, crv, x, y } = privateJwk;
  const privateKey = await importJWK(privateJwk, LOCAL_ALGORITHM).then(
    (key) => key as CryptoKey,
    () => Promise.reject(createKeyFileError(path)),
  );
  return { privateKey, publicJwk: { kty, crv, x, y, alg: LOCAL_ALGORITHM } as JWK };
}

function readJwk(path: string): JWK | null {
  try {
    const jwk = JSON.parse(readFileSync(path, 'utf8')) as JWK | null;
    if (typeof jwk?.d !== 'string') throw createKeyFileError(path);
    return jwk;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error instanceof SyntaxError ? createKeyFileError(path) : error;
  }
}

function createKeyFileError(path: string): StartRefused {
  return new StartRefused(
    `${path} does not contain the key of the local issuer. Restore it from a backup. If it is lost, move the file away: \`npm run token\` creates a new key, and bearer tokens signed with the old one are rejected.`,
  );
}

async function createJwk(path: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair(LOCAL_ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  writeFileAtomically(path, JSON.stringify(jwk));
  return jwk;
}

/**
 * Returns the builder with the identity of these claims. Creates the builder on first use, and updates its names and
 * email address later.
 */
export async function enrollBuilder(
  { database: { prisma }, now }: RowServices,
  claims: BearerClaims,
): Promise<{ builder: Row<'Builder'>; roles: OrgRoles }> {
  const identity = { idpProvider: claims.iss, idpRef: claims.sub };
  const profile = {
    firstName: claims.given_name ?? null,
    lastName: claims.family_name ?? null,
    fullName: claims.name ?? null,
    // Invites and domains are matched by this address. An unverified address could belong to another person.
    primaryEmail: (claims.email_verified === true && claims.email) || null,
  };
  const findBuilder = () =>
    prisma.builder.findUnique({
      where: { idpProvider_idpRef: identity },
      include: { memberships: { select: { orgId: true, role: true } } },
    });
  let row = await findBuilder();
  if (!row) {
    try {
      await prisma.builder.create({ data: { id: newId('bld'), ...identity, ...profile } });
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
    }
    row = await findBuilder();
  }
  if (!row) throw unauthenticated('The builder of this token was deleted.');
  const { memberships, ...builder } = row;
  const roles = createOrgRoles(memberships);
  const hasChanged = (Object.keys(profile) as (keyof typeof profile)[]).some(
    (key) => builder[key] !== profile[key],
  );
  if (!hasChanged) return { builder, roles };
  const data = { ...profile, updateTime: now() };
  return { builder: await prisma.builder.update({ where: { id: builder.id }, data }), roles };
}
