/**
 * Tokens of end users that the gateway signs. All processes derive the signing key from ENCRYPTION_KEY. It is
 * independent of the issuer of builders' tokens.
 */
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { unauthenticated } from '../../errors.ts';
import type { Services } from '../call.ts';
import { type EndUserClaims, sessionPermission } from './end-user.ts';

const ISSUER = 'urn:integration-gateway:session';
const ALGORITHM = 'HS256';
/** Distinguishes these tokens from those of builders. */
const TYPE = 'session+jwt';
/** The purpose from which the signing key is derived. No other key may use it. */
const PURPOSE = 'session tokens';

const claimsSchema = z.object({
  exp: z.int(),
  project: z.string(),
  group: z.string(),
  consumer: z.string(),
  integrations: z.array(z.string()).nullable().default(null),
  permissions: z.array(sessionPermission),
});

type SessionClaims = Omit<EndUserClaims, 'jwtKeyId'> & {
  /** The URL that the connect page returns to. */
  returnUrl: string | null;
};

/** Signs a token. Pages that receive it may read its claims `exp`, `permissions` and `returnUrl`. */
export async function signSession({ vault, now }: Services, claims: SessionClaims) {
  const [{ id: kid, key }] = vault.derivedKeys(PURPOSE);
  const { integrationIds, returnUrl } = claims;
  return new SignJWT({
    project: claims.projectId,
    group: claims.groupId,
    consumer: claims.consumerId,
    permissions: [...claims.permissions],
    ...(integrationIds && { integrations: [...integrationIds] }),
    ...(returnUrl !== null && { returnUrl }),
  })
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
    .setIssuer(ISSUER)
    .setIssuedAt(now())
    .setExpirationTime(claims.expireTime)
    .sign(key);
}

/** The header of a token. Null if the text is not a JWT. */
export function decodeHeader(token: string) {
  try {
    return decodeProtectedHeader(token);
  } catch {
    return null;
  }
}

export function isSession(token: string): boolean {
  return decodeHeader(token)?.typ === TYPE;
}

/** Returns the claims of a token. Throws UNAUTHENTICATED if the token is invalid or expired. */
export async function verifySession(
  { vault, now }: Services,
  token: string,
): Promise<EndUserClaims> {
  const keys = vault.derivedKeys(PURPOSE);
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) => keys.find(({ id }) => id === kid)?.key ?? keys[0].key,
      { issuer: ISSUER, algorithms: [ALGORITHM], typ: TYPE, currentDate: now() },
    );
    const claims = claimsSchema.parse(payload);
    return {
      projectId: claims.project,
      groupId: claims.group,
      consumerId: claims.consumer,
      integrationIds: claims.integrations,
      permissions: claims.permissions,
      expireTime: new Date(claims.exp * 1_000),
      jwtKeyId: null,
    };
  } catch (error) {
    throw notAcceptedError(error);
  }
}

/** An error with the code of the failed check, without any part of the token. */
export function notAcceptedError(error: unknown) {
  const code = (error as { code?: string }).code ?? 'ERR_JWT_CLAIMS';
  return unauthenticated(`The end user's token is not accepted (${code}).`);
}
