/** The people of the project's org: members with their roles, invites, and domains. */
import { graphql } from 'react-relay';
import type { membersPageQuery } from '../../__generated__/membersPageQuery.graphql.ts';
import { Empty, NotFound, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import type { ConsolePageProps } from '../shell/pages.ts';
import { Domains } from './domains.tsx';
import { Invites } from './invites.tsx';
import { InvitesToViewer } from './invites-to-viewer.tsx';
import { Members } from './members.tsx';

const PAGE_QUERY = graphql`
  query membersPageQuery($project: String!) {
    ...invitesToViewer_query
    ...members_query
    project(idOrName: $project) {
      org {
        label
        ...members_org
        ...invites_org
        ...domains_org
      }
    }
  }
`;

export default function MembersPage({ project: projectIdOrName }: ConsolePageProps) {
  const variables = { project: projectIdOrName };
  const query = usePageQuery<membersPageQuery>(PAGE_QUERY, variables);
  if (!query.project) return <NotFound noun="project" />;
  const { org } = query.project;
  if (!org) {
    return (
      <Page title="Members">
        <Panel>
          <Empty title="This key may not read the org">
            Reading the org requires the org:read scope.
          </Empty>
        </Panel>
      </Page>
    );
  }
  return (
    <Page
      title="Members"
      description={`The people of ${org.label}, who share all of its projects.`}
      query={PAGE_QUERY}
      variables={variables}
    >
      <InvitesToViewer query={query} />
      <Panel title="Members">
        <Members org={org} query={query} />
      </Panel>
      <div className="grid spaced">
        <Panel title="Invites">
          <Invites org={org} />
        </Panel>
        <Panel title="Domains">
          <Domains org={org} />
        </Panel>
      </div>
    </Page>
  );
}
