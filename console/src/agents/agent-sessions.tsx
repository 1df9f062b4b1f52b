/** The agent sessions of the project, newest first, with a button that revokes each. */
import { graphql } from 'react-relay';
import type {
  agentSessions_project$data,
  agentSessions_project$key,
} from '../../__generated__/agentSessions_project.graphql.ts';
import type { agentSessionsRevokeMutation } from '../../__generated__/agentSessionsRevokeMutation.graphql.ts';
import { ConfirmChange } from '../parts/dialog.tsx';
import { Empty } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { formatWords, Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

const AGENT_SESSIONS = graphql`
  fragment agentSessions_project on Project
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
  )
  @refetchable(queryName: "agentSessionsNextQuery") {
    agentSessions(first: $count, after: $cursor)
      @connection(key: "agentSessions_agentSessions") {
      totalCount
      edges {
        node {
          id
          name
          objects
          verbs
          rules {
            name
            types
            objects
            fields
            maxPerDay
          }
          expireTime
          revokeTime
          group {
            groupName
          }
          consumer {
            consumerName
          }
        }
      }
    }
  }
`;

const REVOKE_AGENT_SESSION = graphql`
  mutation agentSessionsRevokeMutation($input: RevokeAgentSessionInput!) {
    revokeAgentSession(input: $input) {
      agentSession {
        id
        revokeTime
      }
    }
  }
`;

interface AgentSessionsProps {
  project: agentSessions_project$key;
  projectIdOrName: string;
}

type AgentSession = NonNullable<
  agentSessions_project$data['agentSessions']
>['edges'][number]['node'];

const COLUMNS = [
  'Agent',
  'Status',
  'Expires',
  'For',
  'Objects',
  'Allowed actions',
  'Rules',
  'Actions',
];
const NO_AGENT_SESSIONS = (
  <Empty title="No agent sessions yet">
    Create one to let an agent work for one of your customers.
  </Empty>
);

const getAgentSessions = ({ agentSessions }: agentSessions_project$data) => agentSessions;

export function AgentSessions({ project, projectIdOrName }: AgentSessionsProps) {
  return (
    <Paged
      fragment={AGENT_SESSIONS}
      parent={project}
      list={getAgentSessions}
      empty={NO_AGENT_SESSIONS}
    >
      {(sessions) => (
        <Table label="Agent sessions" columns={COLUMNS}>
          {sessions.map((session) => (
            <tr key={session.id}>
              <td className="strong">{session.name}</td>
              <td>
                <Status value={getStatus(session)} />
              </td>
              <td>
                <Time value={session.expireTime} />
              </td>
              <td>
                {session.group.groupName}, {session.consumer.consumerName}
              </td>
              <td>{session.objects?.join(', ') ?? 'all'}</td>
              <td>{session.verbs.map(formatWords).join(', ')}</td>
              <td className="outcome">
                <Rules rules={session.rules} />
              </td>
              <td>
                {getStatus(session) === 'ACTIVE' && (
                  <ConfirmChange<agentSessionsRevokeMutation>
                    triggerLabel="Revoke"
                    title={`Revoke the session of ${session.name}?`}
                    mutation={REVOKE_AGENT_SESSION}
                    variables={{
                      input: { projectIdOrName, agentSessionId: session.id },
                    }}
                  >
                    <p>
                      The token is rejected within a second. The agent can no longer commit its
                      approved proposals.
                    </p>
                  </ConfirmChange>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Paged>
  );
}

function getStatus({ revokeTime, expireTime }: AgentSession): string {
  if (revokeTime) return 'REVOKED';
  return Date.parse(expireTime) > Date.now() ? 'ACTIVE' : 'EXPIRED';
}

function Rules({ rules }: Pick<AgentSession, 'rules'>) {
  if (rules.length === 0) return <span className="quiet">none</span>;
  return rules.map(({ name, types, objects, fields, maxPerDay }) => (
    <div key={name}>
      <strong>{name}</strong>: {types.map((type) => formatWords(type).toLowerCase()).join(', ')}{' '}
      {objects?.join(', ') ?? 'any object'}
      {fields && `, only ${fields.join(', ')}`}, up to {maxPerDay.toLocaleString('en')} a day
    </div>
  ));
}
