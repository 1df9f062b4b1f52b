/** OAuth tokens in requests, whose times have the names of the reference API. */
import { z } from 'zod';
import { credentialFields, oauth2Token } from '../../domain/connection/credential-input.ts';
import type { Location, WireForm } from '../endpoint/locations.ts';

const { shape } = oauth2Token;
const domainTokens = credentialFields.oauth2AuthorizationCode;

const wireToken = z
  .object({ token: shape.token, issuedAt: shape.issueTime, expiresAt: shape.expireTime })
  .meta({ ...oauth2Token.meta() });

const wireTokens = z
  .object({
    accessToken: wireToken.nullish().describe(domainTokens.shape.accessToken.description as string),
    refreshToken: wireToken
      .nullish()
      .describe(domainTokens.shape.refreshToken.description as string),
    scopes: domainTokens.shape.scopes,
  })
  .meta({ ...domainTokens.meta() });

type WireTokens = z.output<typeof wireTokens>;

const WIRE_NAMES: Record<string, string> = { issueTime: 'issuedAt', expireTime: 'expiresAt' };

/** Returns the location of the tokens in the body of a request that creates or updates a connection. */
export function locateTokens(wrap: (tokens: typeof wireTokens) => z.ZodType): Location {
  const form: WireForm<WireTokens> = {
    schema: wrap(wireTokens) as z.ZodType<WireTokens>,
    toDomain: ({ accessToken, refreshToken, scopes }) => ({
      accessToken: toToken(accessToken),
      refreshToken: toToken(refreshToken),
      scopes,
    }),
    locate: (_wire, location) =>
      location.replace(/(?<=\.)(issueTime|expireTime)$/, (name) => WIRE_NAMES[name] ?? name),
  };
  return { in: 'body', name: 'oauth2AuthorizationCode', form };
}

function toToken(wire: WireTokens['accessToken']): z.output<typeof oauth2Token> | null | undefined {
  if (!wire) return wire;
  const { token, issuedAt: issueTime, expiresAt: expireTime } = wire;
  return { token, issueTime, expireTime };
}
