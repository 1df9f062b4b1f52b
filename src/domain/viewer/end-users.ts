/**
 * End users by their tokens. A signature is checked once; that the project, the group, the consumer and the key
 * still stand is looked up again and again, for many at once.
 */
import { LRUCache } from 'lru-cache';
import { unauthenticated } from '../../errors.ts';
import type { Services } from '../call.ts';
import { upsertParties } from '../project/parties.ts';
import { type EndUserClaims, type EndUserViewer, USUAL_PERMISSIONS } from './end-user.ts';
import { isOfJwtKey, type JwtClaims, verifyJwt } from './jwt-claims.ts';
import { isSession, verifySession } from './session-claims.ts';

const TOKENS_MAX = 10_000;

export interface EndUsers {
  /** Whether the bearer token is an end user's. */
  isToken(token: string): boolean;
  /** Throws UNAUTHENTICATED. */
  find(services: Services, token: string): Promise<EndUserViewer>;
}

export function createEndUsers(): EndUsers {
  const known = new LRUCache<string, EndUserClaims>({ max: TOKENS_MAX });
  const verified = async (services: Services, token: string): Promise<EndUserClaims> => {
    let claims = known.get(token);
    if (!claims) {
      claims = await verify(services, token);
      known.set(token, claims);
    }
    if (claims.expireTime <= services.now()) throw over();
    return claims;
  };
  return {
    isToken: (token) => isSession(token) || isOfJwtKey(token),
    async find(services, token) {
      const wasKnown = known.has(token);
      const claims = await verified(services, token);
      const viewer = (await findStanding(services, [claims])).get(0);
      if (viewer) return viewer;
      known.delete(token);
      // A group that was erased may be there anew, for a token that names it by its ref.
      if (wasKnown && claims.jwtKeyId !== null) return this.find(services, token);
      throw over();
    },
  };
}

function over() {
  return unauthenticated(
    "The end user's token has expired, or what it names is gone or inactive. Get a new one.",
  );
}

async function verify(services: Services, token: string): Promise<EndUserClaims> {
  return isSession(token)
    ? verifySession(services, token)
    : enrol(services, await verifyJwt(services, token));
}

/** The first use of a ref makes its group or consumer, as it does everywhere. */
async function enrol(
  services: Services,
  { groupRef, consumerRef, ...claims }: JwtClaims,
): Promise<EndUserClaims> {
  const { projectId } = claims;
  return {
    ...claims,
    ...(await upsertParties(services, { projectId, groupRef, consumerRef })),
    integrationIds: null,
    permissions: USUAL_PERMISSIONS,
  };
}

interface Standing {
  /** Its place among those that were looked for. */
  at: number;
  orgId: string;
  allowedOrigins: string[];
}

/** Those whose key, project, group and consumer are there still, by their places, in one statement. */
export async function findStanding(
  { database }: Services,
  claims: readonly EndUserClaims[],
): Promise<Map<number, EndUserViewer>> {
  const values = [
    claims.map(({ projectId }) => projectId),
    claims.map(({ groupId }) => groupId),
    claims.map(({ consumerId }) => consumerId),
    claims.map(({ jwtKeyId }) => jwtKeyId),
  ];
  const standing = await database.rows.query<Standing>(STANDING, values);
  return new Map(
    standing.map(({ at, orgId, allowedOrigins }) => {
      const found = claims[at] as EndUserClaims;
      const id = `${found.groupId} ${found.consumerId}`;
      return [at, { ...found, kind: 'END_USER', id, orgId, scopes: [], allowedOrigins }];
    }),
  );
}

const STANDING = `
  select t."at"::int - 1 as "at", p."orgId", p."allowedOrigins"
  from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality
    as t("projectId", "groupId", "consumerId", "jwtKeyId", "at")
  join "Project" p on p."id" = t."projectId"
  join "Group" g on g."projectId" = t."projectId" and g."id" = t."groupId"
  join "Consumer" c on c."projectId" = t."projectId" and c."id" = t."consumerId"
  where (t."jwtKeyId" is null or exists (
    select from "JwtKey" k where k."projectId" = t."projectId" and k."id" = t."jwtKeyId" and k."active"
  )) and not exists (
    select from "Erasure" e where e."projectId" = t."projectId" and e."id" in (p."id", g."id", c."id")
  )`;
