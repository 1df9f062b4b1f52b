/**
 * Tokens that the gateway signs itself. All processes derive the signing keys from ENCRYPTION_KEY. The keys are unrelated
 * to the issuers of builders' tokens.
 */
import { decodeProtectedHeader, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { unauthenticated } from '../../../../kernel/errors.ts';
import type { Services } from '../../call.ts';

const ALGORITHM = 'HS256';

interface TokenOptions {
  issuer: string;
  /** The `typ` of the header, which distinguishes the kinds of tokens. */
  type: string;
  /** The purpose from which the signing key is derived. No other key may use it. */
  purpose: string;
}

/** Signs and verifies one kind of token. */
export class GatewayToken {
  readonly #options: TokenOptions;

  constructor(options: TokenOptions) {
    this.#options = options;
  }

  /** Signs a token. Without `expireTime`, a stored row decides when it expires. */
  sign(
    { vault, now }: Pick<Services, 'vault' | 'now'>,
    payload: JWTPayload,
    expireTime: Date | null,
  ): Promise<string> {
    const { issuer, type, purpose } = this.#options;
    const [{ id: kid, key }] = vault.deriveKeys(purpose);
    const token = new SignJWT(payload)
      .setProtectedHeader({ alg: ALGORITHM, typ: type, kid })
      .setIssuer(issuer)
      .setIssuedAt(now());
    if (expireTime) token.setExpirationTime(expireTime);
    return token.sign(key);
  }

  /** True if the token claims to be of this kind. Its signature is not checked. */
  hasType(token: string): boolean {
    return decodeHeader(token)?.typ === this.#options.type;
  }

  /** Returns the payload of a token. Throws UNAUTHENTICATED if the token is invalid or expired. */
  async verify(
    { vault, now }: Pick<Services, 'vault' | 'now'>,
    token: string,
  ): Promise<JWTPayload> {
    const { issuer, type, purpose } = this.#options;
    const keys = vault.deriveKeys(purpose);
    try {
      const { payload } = await jwtVerify(
        token,
        ({ kid }) => keys.find(({ id }) => id === kid)?.key ?? keys[0].key,
        { issuer, algorithms: [ALGORITHM], typ: type, currentDate: now() },
      );
      return payload;
    } catch (error) {
      throw createRejectedTokenError(error);
    }
  }
}

/** Decodes the header of a token. Null if the string is not a JWT. */
export function decodeHeader(token: string) {
  try {
    return decodeProtectedHeader(token);
  } catch {
    return null;
  }
}

/** Creates an error with the code of the failed check, without any part of the token. */
export function createRejectedTokenError(error: unknown) {
  const code = (error as { code?: string }).code ?? 'ERR_JWT_CLAIMS';
  return unauthenticated(`The end user's token is not accepted (${code}).`);
}
