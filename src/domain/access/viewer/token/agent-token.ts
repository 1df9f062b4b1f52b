/** Tokens of agent sessions. A token only names its session, whose row has the rights and the expiry. */
import { z } from 'zod';
import type { Row } from '../../../../database/statements/tables.ts';
import { DomainError, unauthenticated } from '../../../../kernel/errors.ts';
import { castJsonColumn } from '../../../base/storable-json.ts';
import type { CoreServices } from '../../call.ts';
import { readVerbs } from '../agent-grant.ts';
import type { EndUserClaims } from '../end-user.ts';
import { GatewayToken } from './gateway-token.ts';

const AGENT_TOKEN = new GatewayToken({
  issuer: 'urn:integration-gateway:agent',
  type: 'agent+jwt',
  purpose: 'agent tokens',
});

const payloadSchema = z.object({ project: z.string(), session: z.string() });

type AgentSession = Row<'AgentSession'>;

export function signAgentToken(
  services: CoreServices,
  { projectId, id }: Pick<AgentSession, 'projectId' | 'id'>,
): Promise<string> {
  return AGENT_TOKEN.sign(services, { project: projectId, session: id }, null);
}

export function isAgentToken(token: string): boolean {
  return AGENT_TOKEN.hasType(token);
}

/** Returns the claims of an agent. Throws UNAUTHENTICATED, AGENT_SESSION_EXPIRED or AGENT_SESSION_REVOKED. */
export async function verifyAgentToken(
  services: CoreServices,
  token: string,
): Promise<EndUserClaims> {
  const { project: projectId, session: id } = payloadSchema.parse(
    await AGENT_TOKEN.verify(services, token),
  );
  const session = await services.database.prisma.agentSession.findUnique({
    where: { projectId_id: { projectId, id } },
  });
  if (!session) throw unauthenticated('The agent session was deleted. Create a new one.');
  refuseEndedSession(session, services.now());
  return {
    projectId,
    groupId: session.groupId,
    consumerId: session.consumerId,
    integrationIds: null,
    permissions: [],
    expireTime: session.expireTime,
    jwtKeyId: null,
    agent: {
      sessionId: id,
      objectNames: session.objectNames.length > 0 ? session.objectNames : null,
      verbs: readVerbs(session),
      pinnedTools: castJsonColumn(session.pinnedTools),
    },
  };
}

function refuseEndedSession({ revokeTime, expireTime }: AgentSession, now: Date): void {
  if (revokeTime !== null) {
    throw new DomainError(
      'AGENT_SESSION_REVOKED',
      `The agent session was revoked at ${revokeTime.toISOString()}. Ask the builder for a new session.`,
    );
  }
  if (expireTime <= now) {
    throw new DomainError(
      'AGENT_SESSION_EXPIRED',
      `The agent session expired at ${expireTime.toISOString()}. Ask the builder for a new session.`,
    );
  }
}
