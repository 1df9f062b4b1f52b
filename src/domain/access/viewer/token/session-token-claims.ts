/** Session tokens, which the gateway signs for end users. */
import { z } from 'zod';
import type { Services } from '../../call.ts';
import { type EndUserClaims, sessionPermission } from '../end-user.ts';
import { createRejectedTokenError, GatewayToken } from './gateway-token.ts';

const SESSION_TOKEN = new GatewayToken({
  issuer: 'urn:integration-gateway:session',
  type: 'session+jwt',
  purpose: 'session tokens',
});

const sessionTokenClaims = z.object({
  exp: z.int(),
  project: z.string(),
  group: z.string(),
  consumer: z.string(),
  integrations: z.array(z.string()).nullable().default(null),
  permissions: z.array(sessionPermission),
});

type SessionTokenClaims = Omit<EndUserClaims, 'jwtKeyId' | 'agent'> & {
  /** The URL that the connect page returns to. */
  returnUrl: string | null;
};

/** Signs a token. Pages that receive it may rely on its claims `exp`, `permissions` and `returnUrl`. */
export function signSessionToken(
  services: Pick<Services, 'vault' | 'now'>,
  claims: SessionTokenClaims,
): Promise<string> {
  const { integrationIds, returnUrl, expireTime } = claims;
  const payload = {
    project: claims.projectId,
    group: claims.groupId,
    consumer: claims.consumerId,
    permissions: [...claims.permissions],
    ...(integrationIds && { integrations: [...integrationIds] }),
    ...(returnUrl !== null && { returnUrl }),
  };
  return SESSION_TOKEN.sign(services, payload, expireTime);
}

export function isSessionToken(token: string): boolean {
  return SESSION_TOKEN.hasType(token);
}

/** Returns the claims of a token. Throws UNAUTHENTICATED if the token is invalid or expired. */
export async function verifySessionToken(
  services: Pick<Services, 'vault' | 'now'>,
  token: string,
): Promise<EndUserClaims> {
  const payload = sessionTokenClaims.safeParse(await SESSION_TOKEN.verify(services, token));
  if (!payload.success) throw createRejectedTokenError(payload.error);
  const claims = payload.data;
  return {
    projectId: claims.project,
    groupId: claims.group,
    consumerId: claims.consumer,
    integrationIds: claims.integrations,
    permissions: claims.permissions,
    expireTime: new Date(claims.exp * 1_000),
    jwtKeyId: null,
    agent: null,
  };
}
