/** Lists the writes that agents propose, and the agent sessions. */
import { graphql } from 'react-relay';
import type { agentsPageQuery } from '../../__generated__/agentsPageQuery.graphql.ts';
import { Filter, useFilter, useProjectLink } from '../parts/filters.tsx';
import { NotFound, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import type { ConsolePageProps } from '../shell/pages.ts';
import { AgentSessions } from './agent-sessions.tsx';
import { NewAgentSession } from './new-agent-session.tsx';
import { Proposals } from './proposals.tsx';

const PAGE_QUERY = graphql`
  query agentsPageQuery($project: String!, $status: ProposalStatus) {
    project(idOrName: $project) {
      ...proposals_project @arguments(status: $status)
      ...agentSessions_project
    }
  }
`;

/** Statuses in the order in which a proposal can have them. */
const STATUSES = [
  'PENDING',
  'APPROVED',
  'COMMITTING',
  'COMMITTED',
  'REJECTED',
  'EXPIRED',
  'STALE',
] as const;
const POLL_MS = 3_000;

export default function AgentsPage({ project: projectIdOrName }: ConsolePageProps) {
  const status = useFilter('status', STATUSES);
  const variables = { project: projectIdOrName, status };
  const { project } = usePageQuery<agentsPageQuery>(PAGE_QUERY, variables, {
    everyMs: POLL_MS,
    needsAll: true,
  });
  const linkTo = useProjectLink(projectIdOrName);
  if (!project) return <NotFound noun="project" />;
  return (
    <Page
      title="Agents"
      description="Agents read records and propose writes. A proposal is written after a person or a rule has approved it."
      actions={<NewAgentSession project={projectIdOrName} />}
      query={PAGE_QUERY}
      variables={variables}
    >
      <Panel title="Proposals">
        <div className="filters">
          <Filter name="status" label="Status" values={STATUSES} />
        </div>
        <Proposals project={project} isFiltered={status !== null} linkTo={linkTo} />
      </Panel>
      <Panel title="Agent sessions">
        <AgentSessions project={project} projectIdOrName={projectIdOrName} />
      </Panel>
    </Page>
  );
}
