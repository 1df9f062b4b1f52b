/** Verifies tokens of end users that the builder's own server signs with a JWT key of the project. */
import { type CryptoKey, importSPKI, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { withoutProject } from '../../../../database/statements/projects/all-projects.ts';
import type { Row } from '../../../../database/statements/tables.ts';
import { unauthenticated } from '../../../../kernel/errors.ts';
import { findPrefix } from '../../../../kernel/ids.ts';
import { requireParsed } from '../../../../work/bounded-parse.ts';
import { ref } from '../../../base/names.ts';
import { isStorableString } from '../../../base/storable-json.ts';
import type { RowServices } from '../../call.ts';
import { createRejectedTokenError, decodeHeader } from './gateway-token.ts';

export const JWT_ALGORITHM = 'RS256';
/** The maximum lifetime of a token, as in the reference API. */
const LIFETIME_SECONDS_MAX = 600;
/** How far the clock of the builder's server may be ahead. The tolerance does not extend the lifetime of tokens. */
const CLOCK_TOLERANCE_SECONDS = 30;
const KEYS_MAX = 1_000;

const storableRef = ref.refine(isStorableString);
const jwtClaims = z.object({
  exp: z.int(),
  iat: z.int(),
  groupRef: storableRef,
  consumerRef: storableRef,
});

/** The claims of a verified token, which identify the end user by the builder's refs. */
export interface JwtClaims {
  jwtKeyId: string;
  projectId: string;
  groupRef: string;
  consumerRef: string;
  expireTime: Date;
}

export function isJwtKeyToken(token: string): boolean {
  return findKeyId(token) !== null;
}

function findKeyId(token: string): string | null {
  const { kid } = decodeHeader(token) ?? {};
  return typeof kid === 'string' && findPrefix(kid) === 'jwk' ? kid : null;
}

/** Parsed public keys by PEM. A key never changes, so each is parsed once. */
const PUBLIC_KEYS = new LRUCache<string, CryptoKey>({ max: KEYS_MAX });

const KEY_BY_ID = withoutProject<Row<'JwtKey'>>(
  'a token names its key but no project',
  'select * from "JwtKey" where "id" = $1',
);

/**
 * Returns the claims of a token. Throws UNAUTHENTICATED if its key is unknown or inactive, or if the token is invalid.
 */
export async function verifyJwt({ database, now }: RowServices, token: string): Promise<JwtClaims> {
  const [key] = await database.run(KEY_BY_ID, [findKeyId(token) ?? '']);
  if (!key?.active) throw unauthenticated('The JWT key is unknown, inactive or deleted.');
  try {
    const { payload } = await jwtVerify(token, await importPublicKey(key.publicKeyPem), {
      algorithms: [JWT_ALGORITHM],
      currentDate: now(),
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ['exp', 'iat'],
    });
    const { exp, iat, groupRef, consumerRef } = requireParsed(jwtClaims, payload);
    requireValidTimes({ exp, iat }, now());
    const expireTime = new Date(exp * 1_000);
    return { jwtKeyId: key.id, projectId: key.projectId, groupRef, consumerRef, expireTime };
  } catch (error) {
    throw createRejectedTokenError(error);
  }
}

function requireValidTimes({ exp, iat }: { exp: number; iat: number }, now: Date): void {
  const nowSeconds = now.getTime() / 1_000;
  if (exp <= nowSeconds) throw new TokenTimesError('ERR_JWT_EXPIRED');
  if (iat > nowSeconds + CLOCK_TOLERANCE_SECONDS) throw new TokenTimesError('ERR_JWT_ISSUED_LATER');
  if (exp - iat > LIFETIME_SECONDS_MAX) throw new TokenTimesError('ERR_JWT_LIVES_TOO_LONG');
}

class TokenTimesError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

async function importPublicKey(pem: string): Promise<CryptoKey> {
  let key = PUBLIC_KEYS.get(pem);
  if (!key) {
    key = await importSPKI(pem, JWT_ALGORITHM);
    PUBLIC_KEYS.set(pem, key);
  }
  return key;
}
