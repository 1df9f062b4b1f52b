/**
 * Identifies end users by their tokens. The signature of a token is verified once. Its project, group, consumer and key
 * are checked at each lookup, for many tokens in one statement.
 */
import { LRUCache } from 'lru-cache';
import { sqlStatement } from '../../../database/statements/statements.ts';
import { unauthenticated } from '../../../kernel/errors.ts';
import { growUpTo } from '../../../work/growing-cache.ts';
import type { CoreServices, RowServices } from '../call.ts';
import { upsertParties } from '../upsert-parties.ts';
import {
  DEFAULT_PERMISSIONS,
  type EndUserClaims,
  type EndUsers,
  type EndUserViewer,
} from './end-user.ts';
import { isAgentToken, verifyAgentToken } from './token/agent-token.ts';
import { isJwtKeyToken, type JwtClaims, verifyJwt } from './token/jwt-claims.ts';
import { isSessionToken, verifySessionToken } from './token/session-token-claims.ts';

const TOKENS_MAX = 10_000;

/** The services that find an end user. */
type TokenServices = CoreServices;

export function createEndUsers(services: TokenServices): EndUsers {
  const cache = new LRUCache<string, EndUserClaims>(growUpTo(TOKENS_MAX));
  const getClaims = async (token: string): Promise<EndUserClaims> => {
    let claims = cache.get(token);
    if (!claims) {
      claims = await verifyToken(services, token);
      cache.set(token, claims);
    }
    if (claims.expireTime <= services.now()) {
      // For an agent, this throws an error with the reason.
      if (claims.agent) await verifyAgentToken(services, token);
      throw createExpiredError();
    }
    return claims;
  };
  return {
    isToken: (token) => isSessionToken(token) || isAgentToken(token) || isJwtKeyToken(token),
    async get(token) {
      const wasCached = cache.has(token);
      const claims = await getClaims(token);
      const viewer = (await listValidEndUsers(services, [claims])).get(0);
      if (viewer) return viewer;
      cache.delete(token);
      if (claims.agent) await verifyAgentToken(services, token);
      // A token that identifies its group by ref may find a new group after the old one was erased.
      if (wasCached && claims.jwtKeyId !== null) return this.get(token);
      throw createExpiredError();
    },
  };
}

function createExpiredError() {
  return unauthenticated(
    "The end user's token has expired, or an object that it names was deleted or is inactive. Get a new token.",
  );
}

async function verifyToken(services: TokenServices, token: string): Promise<EndUserClaims> {
  if (isSessionToken(token)) return verifySessionToken(services, token);
  if (isAgentToken(token)) return verifyAgentToken(services, token);
  return enrollEndUser(services, await verifyJwt(services, token));
}

/** Replaces the refs of a token by ids. Creates the group and the consumer on first use of their refs. */
async function enrollEndUser(
  services: TokenServices,
  { groupRef, consumerRef, ...claims }: JwtClaims,
): Promise<EndUserClaims> {
  const { projectId } = claims;
  return {
    ...claims,
    ...(await upsertParties(services, { projectId, groupRef, consumerRef })),
    integrationIds: null,
    permissions: DEFAULT_PERMISSIONS,
    agent: null,
  };
}

interface ValidTokenClaims {
  /** The index of the token's claims in the input. */
  index: number;
  orgId: string;
  allowedOrigins: string[];
}

const VALID_CLAIMS = sqlStatement<ValidTokenClaims>(`
  select claims."position"::int - 1 as "index", project."orgId", project."allowedOrigins"
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) with ordinality
    as claims("projectId", "groupId", "consumerId", "jwtKeyId", "agentSessionId", "position")
  join "Project" as project on project."id" = claims."projectId"
  join "Group" as group_row
    on group_row."projectId" = claims."projectId" and group_row."id" = claims."groupId"
  join "Consumer" as consumer
    on consumer."projectId" = claims."projectId" and consumer."id" = claims."consumerId"
  where (claims."jwtKeyId" is null or exists (
    select from "JwtKey" where "projectId" = claims."projectId" and "id" = claims."jwtKeyId" and "active"
  )) and (claims."agentSessionId" is null or exists (
    select from "AgentSession" where "projectId" = claims."projectId" and "id" = claims."agentSessionId"
      and "revokeTime" is null and "expireTime" > $6
  )) and not exists (
    select from "Erasure" where "projectId" = claims."projectId"
      and "id" in (project."id", group_row."id", consumer."id")
  )`);

/**
 * Returns the end users whose key, agent session, project, group and consumer are still valid, by the index of their
 * claims. One statement checks all claims.
 */
export async function listValidEndUsers(
  services: RowServices,
  claims: readonly EndUserClaims[],
): Promise<Map<number, EndUserViewer>> {
  const values = [
    claims.map(({ projectId }) => projectId),
    claims.map(({ groupId }) => groupId),
    claims.map(({ consumerId }) => consumerId),
    claims.map(({ jwtKeyId }) => jwtKeyId),
    claims.map(({ agent }) => agent?.sessionId ?? null),
    services.now(),
  ];
  const rows = await services.database.run(VALID_CLAIMS, values);
  return new Map(
    rows.map(({ index, orgId, allowedOrigins }) => {
      const tokenClaims = claims[index] as EndUserClaims;
      const { agent, groupId, consumerId } = tokenClaims;
      const id = agent?.sessionId ?? `${groupId} ${consumerId}`;
      return [index, { ...tokenClaims, kind: 'END_USER', id, orgId, scopes: [], allowedOrigins }];
    }),
  );
}
