/** Returns the operations of committed proposals to the agents that proposed them. */
import { z } from 'zod';
import { notFound } from '../../errors.ts';
import { id } from '../../ids.ts';
import { projectRead } from '../declared-read.ts';
import { projectIdOrName } from '../names.ts';
import { getOperation } from '../operation/operation.ts';
import { orAgent } from '../viewer/needs.ts';
import { asEndUser, findGrant } from './agent-objects.ts';

export const agentOperationInput = z.object({
  projectIdOrName,
  operationId: id.describe('The id of the operation.'),
});

/** Throws NOT_FOUND for an operation that the caller may not see. An agent sees the operations of its own proposals. */
export const getAgentOperation = projectRead(
  orAgent('read'),
  'Gets the operation of a committed write, with its status and result.',
  async (call, { operationId }: { operationId: string }, { id: projectId }) => {
    const grant = findGrant(call.viewer);
    if (grant) {
      const proposal = await call.database.prisma.proposal.findFirst({
        where: { projectId, operationId, agentSessionId: grant.sessionId },
        select: { id: true },
      });
      if (!proposal) throw notFound('Operation', operationId);
    }
    return getOperation(asEndUser(call), { projectIdOrName: projectId, operationId });
  },
);
