import { z } from 'zod';
import { readInProject } from '../../domain/access/declared-read.ts';
import {
  agentSessionInput,
  agentSessionResource,
  createAgentSession,
  createdAgentSessionResource,
  getAgentSession,
  listAgentSessions,
  revokeAgentSession,
} from '../../domain/agents/agent-session.ts';
import { projectIdOrName } from '../../domain/base/names.ts';
import { mutationEndpoint, pagedEndpoint, readEndpoint } from '../endpoint/resource-endpoints.ts';
import { extendResource } from '../openapi/response-form.ts';

const tag = 'Agents';
const path = '/projects/{projectIdOrName}/agent-sessions';

const agentSession = extendResource(agentSessionResource, {
  groupId: z.string().describe('The id of the group whose records the agent uses.'),
  consumerId: z.string().describe('The id of the end user that the agent works for.'),
});

export const agentSessionEndpoints = [
  mutationEndpoint({
    id: 'createAgentSession',
    method: 'POST',
    path,
    tag,
    mutation: createAgentSession,
    status: 201,
    resource: createdAgentSessionResource,
  }),
  pagedEndpoint({
    id: 'listAgentSessions',
    path,
    tag,
    input: z.object({ projectIdOrName }),
    list: readInProject(listAgentSessions),
    resource: agentSession,
  }),
  readEndpoint({
    id: 'getAgentSession',
    path: `${path}/{agentSessionId}`,
    tag,
    input: agentSessionInput,
    read: getAgentSession,
    resource: agentSession,
  }),
  mutationEndpoint({
    id: 'revokeAgentSession',
    method: 'POST',
    path: `${path}/{agentSessionId}:revoke`,
    tag,
    mutation: revokeAgentSession,
    status: 200,
    resource: agentSession,
  }),
];
