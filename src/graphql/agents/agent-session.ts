import {
  agentSessionResource,
  type CreatedAgentSession,
  createAgentSession,
  createdAgentSessionResource,
  listAgentSessions,
  revokeAgentSession,
} from '../../domain/agents/agent-session.ts';
import { requiredLinkField } from '../schema/fields.ts';
import { addList } from '../schema/lists.ts';
import { addMutation, addMutations } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { builder } from '../schema/schema-builder.ts';
import { AgentSession, Consumer, Group, Project } from '../schema/types.ts';

objectType(AgentSession, agentSessionResource, (t) => ({
  group: requiredLinkField(t, {
    type: Group,
    table: 'Group',
    column: 'groupId',
    description: 'The group whose records the agent uses.',
  }),
  consumer: requiredLinkField(t, {
    type: Consumer,
    table: 'Consumer',
    column: 'consumerId',
    description: 'The end user that the agent works for.',
  }),
}));

addList(Project, 'agentSessions', AgentSession, listAgentSessions);

const CreateAgentSessionPayload = objectType(
  builder.objectRef<CreatedAgentSession>('CreateAgentSessionPayload'),
  createdAgentSessionResource,
);

addMutation('createAgentSession', createAgentSession, CreateAgentSessionPayload);
addMutations('agentSession', AgentSession, { revokeAgentSession });
