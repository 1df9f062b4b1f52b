/** Creates an agent session, and shows its token once. */
import { graphql } from 'react-relay';
import { AgentVerb } from '../../__generated__/enums.ts';
import type { newAgentSessionMutation } from '../../__generated__/newAgentSessionMutation.graphql.ts';
import type { newAgentSessionQuery } from '../../__generated__/newAgentSessionQuery.graphql.ts';
import { CopyableValue, FormDialog } from '../parts/dialog.tsx';
import { CheckBox, Choice, type FormValues, TextInput } from '../parts/form.tsx';
import { Loaded } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Snippet } from '../parts/snippet.tsx';
import { formatWords } from '../parts/status.tsx';
import { ApprovalRules, readApprovalRules } from './approval-rules.tsx';

const QUERY = graphql`
  query newAgentSessionQuery($project: String!) {
    project(idOrName: $project) {
      contract {
        objects {
          name
        }
      }
    }
  }
`;

const CREATE_AGENT_SESSION = graphql`
  mutation newAgentSessionMutation($input: CreateAgentSessionInput!) {
    createAgentSession(input: $input) {
      token
      mcpUrl
    }
  }
`;

/** Reads come first. A new verb of the API is last. */
const VERBS = [...new Set(['READ', 'CREATE', 'UPDATE', 'DELETE', ...AgentVerb] as const)];
const VERB_PREFIX = 'verbs/';
const OBJECT_PREFIX = 'objects/';
const LIFETIMES = [
  { id: '3600', label: '1 hour' },
  { id: '28800', label: '8 hours' },
  { id: '86400', label: '1 day' },
  { id: '604800', label: '7 days' },
  { id: '2592000', label: '30 days' },
];

export function NewAgentSession({ project }: { project: string }) {
  return (
    <FormDialog<newAgentSessionMutation>
      triggerLabel="Create agent session"
      kind="primary"
      title="Create agent session"
      submitLabel="Create session"
      mutation={CREATE_AGENT_SESSION}
      variables={(values) => ({ input: createInput(project, values) })}
      renderResult={({ createAgentSession: { token, mcpUrl } }) => (
        <>
          <CopyableValue
            explanation="Copy the token now. It is not shown again."
            value={token}
            label="Token"
          />
          <CopyableValue
            explanation="The MCP server of the project:"
            value={mcpUrl}
            label="MCP URL"
          />
          <Snippet title="MCP configuration" text={createConfiguration(project, mcpUrl, token)} />
        </>
      )}
    >
      <TextInput
        name="name"
        label="Agent"
        isRequired
        help="Shown to people who approve its proposals."
      />
      <TextInput name="groupRef" label="Group" isRequired help="Your own ID for this customer." />
      <TextInput
        name="consumerRef"
        label="Consumer"
        isRequired
        help="Your own ID for the person that the agent works for."
      />
      <fieldset className="fields">
        <legend className="strong">Allowed actions</legend>
        <div className="checks">
          {VERBS.map((verb) => (
            <CheckBox
              key={verb}
              name={VERB_PREFIX + verb}
              label={formatWords(verb)}
              isCheckedByDefault={verb === 'READ' || verb === 'UPDATE'}
            />
          ))}
        </div>
      </fieldset>
      <fieldset className="fields">
        <legend className="strong">Objects</legend>
        <p className="quiet">If you choose none, the agent may use all objects of the group.</p>
        <Loaded resetKey={project} errorFallback={<p>The objects could not be loaded.</p>}>
          <ObjectChoice project={project} />
        </Loaded>
      </fieldset>
      <Choice name="expiresInSeconds" label="Lifetime" options={LIFETIMES} defaultValue="3600" />
      <ApprovalRules />
    </FormDialog>
  );
}

function ObjectChoice({ project: projectIdOrName }: { project: string }) {
  const { project } = usePageQuery<newAgentSessionQuery>(QUERY, { project: projectIdOrName });
  return (
    <div className="checks">
      {project?.contract?.objects.map(({ name }) => (
        <CheckBox key={name} name={OBJECT_PREFIX + name} label={name} />
      ))}
    </div>
  );
}

function createInput(project: string, values: FormValues) {
  const objects = Object.keys(values)
    .filter((name) => name.startsWith(OBJECT_PREFIX))
    .map((name) => name.slice(OBJECT_PREFIX.length));
  return {
    projectIdOrName: project,
    name: String(values.name),
    groupRef: String(values.groupRef),
    consumerRef: String(values.consumerRef),
    verbs: AgentVerb.filter((verb) => values[VERB_PREFIX + verb]),
    objects: objects.length > 0 ? objects : null,
    rules: readApprovalRules(values),
    expiresInSeconds: Number(values.expiresInSeconds),
  };
}

/** Returns the configuration file of an MCP client. */
function createConfiguration(project: string, url: string, token: string): string {
  const server = { type: 'http', url, headers: { Authorization: `Bearer ${token}` } };
  return JSON.stringify({ mcpServers: { [project]: server } }, null, 2);
}
