/** Agent sessions: the rights of an agent that works for one end user, until the session expires or is revoked. */
import { z } from 'zod';
import type { Row } from '../../database/statements/tables.ts';
import { id, newId } from '../../kernel/ids.ts';
import type { Call, RowCall } from '../access/call.ts';
import { projectMutation } from '../access/declared-mutation.ts';
import { projectRead, read } from '../access/declared-read.ts';
import type { PageArgs } from '../access/paging/page.ts';
import { listPage } from '../access/paging/page-of-rows.ts';
import { getProjectRow } from '../access/scope.ts';
import { upsertParties } from '../access/upsert-parties.ts';
import { agentVerb, type PinnedTool, readVerbs } from '../access/viewer/agent-grant.ts';
import { authorizeGrant, orEndUser } from '../access/viewer/needs.ts';
import type { Scope } from '../access/viewer/scopes.ts';
import { signAgentToken } from '../access/viewer/token/agent-token.ts';
import { formatPrincipal } from '../access/viewer/viewer.ts';
import { orDefault, orElse } from '../base/input-schemas.ts';
import { requireNoIssues } from '../base/issues.ts';
import { label, projectIdOrName, ref } from '../base/names.ts';
import { computed, createdInProject, resource } from '../base/resource.ts';
import { castJsonColumn } from '../base/storable-json.ts';
import { writeType } from '../connections/provider/provider.ts';
import { listRightIssues, listUnknownObjectIssues } from './agent-session-check.ts';
import {
  approvalRule,
  approvalRuleResource,
  OBJECTS_MAX,
  objectName,
  readRules,
} from './approval-rule.ts';

export type AgentSession = Row<'AgentSession'>;

const RULES_MAX = 50;
const PINNED_TOOLS_MAX = 20;
const DAY_SECONDS = 86_400;
const LIFETIME_SECONDS = 3_600;
const LIFETIME_SECONDS_MIN = 60;
const LIFETIME_SECONDS_MAX = 30 * DAY_SECONDS;
const PROPOSAL_SECONDS_MAX = 7 * DAY_SECONDS;

const pinnedTool = z.object({
  type: writeType.describe('The type of the write.'),
  objectName: objectName.describe("The builder's name of the object."),
});

export const agentSessionResource = resource(
  'AgentSession',
  'The rights of an agent that works for one end user. The agent reads records and proposes writes through its tools.',
  {
    ...createdInProject,
    name: z.string().describe('The name of the agent, which approvers see.'),
    objects: computed(
      z
        .array(z.string())
        .nullable()
        .describe("The objects, by the builder's names. {Null} for all objects of the group."),
      ({ objectNames }: AgentSession) => (objectNames.length > 0 ? objectNames : null),
    ),
    verbs: computed(
      z.array(agentVerb).describe('What the agent may do with records of these objects.'),
      (session: AgentSession) => readVerbs(session),
    ),
    rules: computed(
      z
        .array(approvalRuleResource)
        .describe(
          'Writes that need no approval by a person. The first rule that matches approves.',
        ),
      (session: AgentSession) => readRules(session),
    ),
    pinnedTools: computed(
      z
        .array(resource('PinnedTool', 'A write with its own tool.', pinnedTool.shape))
        .describe('Writes with their own tools, like `create_people`.'),
      ({ pinnedTools }: AgentSession) => castJsonColumn<PinnedTool[]>(pinnedTools),
    ),
    proposalLifeSeconds: computed(
      z
        .int()
        .describe('How long a proposal of the agent can be approved and committed, in seconds.'),
      ({ proposalSeconds }: AgentSession) => proposalSeconds,
    ),
    createdBy: z.string().describe('The principal that created the session, like `api:<key id>`.'),
    expireTime: z.date().describe('When the session expires.'),
    revokeTime: z.date().nullable().describe('When the session was revoked. {Null} if it was not.'),
  },
);

const createAgentSessionInput = z
  .object({
    projectIdOrName,
    groupRef: ref.describe(
      "The builder's own id of the group whose records the agent uses, 1 to 256 characters. Its first use creates the group.",
    ),
    consumerRef: ref.describe(
      "The builder's own id of the end user that the agent works for, 1 to 256 characters. Its first use creates the consumer.",
    ),
    name: label.describe('The name of the agent, which approvers see.'),
    objects: z
      .array(objectName)
      .min(1)
      .max(OBJECTS_MAX)
      .nullish()
      .describe(
        "The objects that the agent may use, by the builder's names, at most 200. Default: all objects of the group.",
      ),
    verbs: z
      .array(agentVerb)
      .min(1)
      .max(agentVerb.options.length)
      .describe('What the agent may do with records. The caller must have these rights itself.'),
    rules: orElse(
      z
        .array(
          approvalRule.meta({
            id: 'ApprovalRuleInput',
            description: 'Writes that need no approval by a person.',
          }),
        )
        .max(RULES_MAX),
      [],
    ).describe(
      'Writes that need no approval by a person, at most 50. The first rule that matches approves. Default: none.',
    ),
    pinnedTools: orElse(
      z
        .array(
          pinnedTool.meta({
            id: 'PinnedToolInput',
            description: 'A write with its own tool.',
          }),
        )
        .max(PINNED_TOOLS_MAX),
      [],
    ).describe('Writes with their own tools, like `create_people`, at most 20. Default: none.'),
    expiresInSeconds: orDefault(
      z.int().min(LIFETIME_SECONDS_MIN).max(LIFETIME_SECONDS_MAX),
      LIFETIME_SECONDS,
    ).describe('The lifetime of the session in seconds, 60 to 2592000. Default: 3600.'),
    proposalLifeSeconds: orDefault(
      z.int().min(LIFETIME_SECONDS_MIN).max(PROPOSAL_SECONDS_MAX),
      DAY_SECONDS,
    ).describe(
      'How long a proposal can be approved and committed, in seconds, 60 to 604800. Default: 86400.',
    ),
  })
  .meta({
    id: 'CreateAgentSessionInput',
    description: 'The end user that the agent works for, and the rights of the agent.',
  });

type Input = z.output<typeof createAgentSessionInput>;

export const createdAgentSessionResource = resource(
  'CreatedAgentSession',
  'A new agent session with its token. Only this response contains the token.',
  {
    agentSession: agentSessionResource.describe('The session.'),
    token: z
      .string()
      .describe(
        'The token. The agent sends it as `Authorization: Bearer`. It ends with the session.',
      ),
    mcpUrl: z.string().describe('The URL of the MCP server that offers the tools.'),
  },
);

export interface CreatedAgentSession {
  agentSession: AgentSession;
  token: string;
  mcpUrl: string;
}

const VERB_SCOPES = {
  READ: 'records:read',
  CREATE: 'records:write',
  UPDATE: 'records:write',
  DELETE: 'records:write',
} as const satisfies Record<Input['verbs'][number], Scope>;

/** A session never permits more than its creator may do. Creates the group and the consumer if they do not exist. */
export const createAgentSession = projectMutation({
  description:
    "Creates a session for an agent that works for one end user: a group and a consumer. The agent gets tools for the group's objects, and its writes need an approval.",
  needs: 'agents:write',
  input: createAgentSessionInput,
  async run(call, input, project): Promise<CreatedAgentSession> {
    const verbs = [...new Set(input.verbs)];
    authorizeGrant(call.viewer, [...new Set(verbs.map((verb) => VERB_SCOPES[verb]))]);
    requireNoIssues([
      ...listRightIssues(input),
      ...(await listUnknownObjectIssues(call, project, input)),
    ]);
    const parties = await upsertParties(call, { ...input, projectId: project.id });
    const agentSession = await call.database.prisma.agentSession.create({
      data: {
        id: newId('ags'),
        projectId: project.id,
        ...parties,
        name: input.name,
        objectNames: [...new Set(input.objects)],
        verbs,
        rules: input.rules,
        pinnedTools: input.pinnedTools,
        proposalSeconds: input.proposalLifeSeconds,
        createdBy: formatPrincipal(call.viewer),
        expireTime: new Date(call.now().getTime() + input.expiresInSeconds * 1_000),
      },
    });
    const token = await signAgentToken(call, agentSession);
    return { agentSession, token, mcpUrl: formatMcpUrl(call, project) };
  },
});

/** Returns the URL of a project's MCP server. */
function formatMcpUrl(
  { publicUrl }: Pick<Call, 'publicUrl'>,
  { id: projectId }: Pick<Row<'Project'>, 'id'>,
): string {
  return `${publicUrl()}/mcp/projects/${projectId}`;
}

const agentSessionId = id.describe('The id of the agent session.');

export const agentSessionInput = z.object({ projectIdOrName, agentSessionId });

const revokeAgentSessionInput = agentSessionInput.meta({
  id: 'RevokeAgentSessionInput',
  description: 'The agent session to revoke.',
});

/** Keeps the revoke time of a session that is already revoked. */
export const revokeAgentSession = projectMutation({
  description:
    'Revokes an agent session. Within a second, its token is rejected on every server. Its proposals can no longer be committed by the agent.',
  needs: orEndUser('agents:write', 'APPROVE'),
  input: revokeAgentSessionInput,
  async run(call, { agentSessionId: sessionId }, { id: projectId }): Promise<AgentSession> {
    await getAgentSessionRow(call, projectId, sessionId);
    await call.database.prisma.agentSession.updateMany({
      where: { projectId, id: sessionId, revokeTime: null },
      data: { revokeTime: call.now() },
    });
    call.viewers.clear();
    return getAgentSessionRow(call, projectId, sessionId);
  },
});

/** Throws NOT_FOUND if the viewer may not see the session. */
function getAgentSessionRow(call: RowCall, projectId: string, sessionId: string) {
  return getProjectRow(call, 'AgentSession', { projectId, id: sessionId, noun: 'Agent session' });
}

export const getAgentSession = projectRead(
  orEndUser('records:read', 'APPROVE'),
  'Gets an agent session.',
  (call, { agentSessionId: sessionId }: { agentSessionId: string }, { id: projectId }) =>
    getAgentSessionRow(call, projectId, sessionId),
);

export const listAgentSessions = read(
  orEndUser('records:read', 'APPROVE'),
  'Lists agent sessions, newest first, also expired and revoked ones.',
  (call: Call, { id: projectId }: Row<'Project'>, args: PageArgs) =>
    listPage(
      call,
      {
        name: 'Project.agentSessions',
        parentId: projectId,
        table: 'AgentSession',
        where: { projectId },
      },
      args,
    ),
);
