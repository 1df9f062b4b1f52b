/** One group: its name, its connections, its installations, and its erasure. */
import { graphql } from 'react-relay';
import type { groupPageEraseMutation } from '../../__generated__/groupPageEraseMutation.graphql.ts';
import type { groupPageQuery } from '../../__generated__/groupPageQuery.graphql.ts';
import { ConnectCustomer } from '../connections/connect-customer.tsx';
import { ConnectionRows } from '../connections/connection-rows.tsx';
import { InstallationRows } from '../installations/installation-rows.tsx';
import { Copyable } from '../parts/copy.tsx';
import { ConfirmChange } from '../parts/dialog.tsx';
import { useProjectLink } from '../parts/filters.tsx';
import { Empty, NotFound, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import type { ConsolePageProps } from '../shell/pages.ts';
import { RenameGroup } from './rename.tsx';

const PAGE_QUERY = graphql`
  query groupPageQuery($project: String!, $groupRef: String!) {
    project(idOrName: $project) {
      group(idOrRef: $groupRef) {
        groupRef
        groupName
        connections(first: 50) {
          totalCount
          nodes {
            ...connectionRows_connection
          }
        }
        installations(first: 50) {
          totalCount
          nodes {
            ...installationRows_installation
          }
        }
      }
    }
  }
`;

const ERASE_GROUP = graphql`
  mutation groupPageEraseMutation($input: EraseGroupInput!) {
    eraseGroup(input: $input) {
      deletedId
    }
  }
`;

export default function GroupPage({ project: projectIdOrName, id = '' }: ConsolePageProps) {
  const variables = { project: projectIdOrName, groupRef: id };
  const { project } = usePageQuery<groupPageQuery>(PAGE_QUERY, variables);
  const linkTo = useProjectLink(projectIdOrName);
  const group = project?.group;
  if (!group) return <NotFound noun="group" />;
  const { groupRef, connections, installations } = group;
  return (
    <Page
      title={group.groupName}
      description={<Copyable value={groupRef} label="ref" />}
      actions={
        <>
          <ConnectCustomer project={projectIdOrName} groupRef={groupRef} />
          <RenameGroup project={projectIdOrName} groupRef={groupRef} groupName={group.groupName} />
          <Erase project={projectIdOrName} groupRef={groupRef} groupName={group.groupName} />
        </>
      }
      query={PAGE_QUERY}
      variables={variables}
    >
      <Panel title={`Connections (${connections.totalCount.toLocaleString('en')})`}>
        {connections.totalCount === 0 ? (
          <Empty title="No connections yet" />
        ) : (
          <ConnectionRows connections={connections.nodes} linkTo={linkTo} isOfGroup />
        )}
      </Panel>
      <Panel title={`Installations (${installations.totalCount.toLocaleString('en')})`}>
        {installations.totalCount === 0 ? (
          <Empty title="No installations yet">
            The group installs integrations on the connect page.
          </Empty>
        ) : (
          <InstallationRows installations={installations.nodes} linkTo={linkTo} parent="group" />
        )}
      </Panel>
    </Page>
  );
}

interface EraseProps {
  project: string;
  groupRef: string;
  groupName: string;
}

function Erase({ project, groupRef, groupName }: EraseProps) {
  const linkTo = useProjectLink(project);
  return (
    <ConfirmChange<groupPageEraseMutation>
      triggerLabel="Erase group"
      title={`Erase ${groupName}?`}
      mutation={ERASE_GROUP}
      variables={{ input: { projectIdOrName: project, groupRef } }}
      leadsTo={linkTo('groups')}
    >
      <p>
        This permanently deletes the group's connections, installations, operations and events. You
        can't undo it.
      </p>
    </ConfirmChange>
  );
}
