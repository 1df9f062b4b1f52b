/** One group: its connections, its installations, and its erasure. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { groupPageEraseMutation } from '../../__generated__/groupPageEraseMutation.graphql.ts';
import type { groupPageQuery } from '../../__generated__/groupPageQuery.graphql.ts';
import { GroupInstallations } from '../installations/group-installations.tsx';
import { Copyable } from '../parts/copy.tsx';
import { ConfirmChange } from '../parts/dialog.tsx';
import { useAddress } from '../parts/filters.tsx';
import { Empty, Missing, Page, Panel } from '../parts/page.tsx';
import { ProviderName } from '../parts/provider-mark.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { PlaceProps } from '../shell/places.ts';

const QUERY = graphql`
  query groupPageQuery($project: String!, $groupRef: String!) {
    project(idOrName: $project) {
      connections(first: 50, groupRef: $groupRef) {
        nodes {
          id
          provider
          status
          createTime
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

const ERASE = graphql`
  mutation groupPageEraseMutation($input: EraseGroupInput!) {
    eraseGroup(input: $input) {
      deletedId
    }
  }
`;

export default function GroupPage({ project: idOrName, id: groupRef = '' }: PlaceProps) {
  const variables = { project: idOrName, groupRef };
  const { project } = usePageQuery<groupPageQuery>(QUERY, variables);
  const address = useAddress(idOrName);
  if (!project) return <Missing noun="project" />;
  const { nodes } = project.connections;
  return (
    <Page
      title={nodes[0]?.group.groupName ?? groupRef}
      description={<Copyable value={groupRef} label="ref" />}
      actions={<Erase project={idOrName} groupRef={groupRef} />}
      query={QUERY}
      variables={variables}
    >
      <Panel title="Connections">
        {nodes.length === 0 ? (
          <Empty title="No connections yet" />
        ) : (
          <Table label="Connections" columns={['Provider', 'Status', 'Consumer', 'Created']}>
            {nodes.map(({ id, provider, consumer, status, createTime }) => (
              <tr key={id}>
                <td>
                  <Link href={address(`connections/${id}`)} className="strong">
                    <ProviderName name={provider} />
                  </Link>
                </td>
                <td>
                  <Status value={status} />
                </td>
                <td>{consumer.consumerName}</td>
                <td>
                  <Time value={createTime} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Panel>
      <Panel title="Installations">
        <GroupInstallations project={idOrName} groupRef={groupRef} />
      </Panel>
    </Page>
  );
}

function Erase({ project, groupRef }: { project: string; groupRef: string }) {
  const address = useAddress(project);
  return (
    <ConfirmChange<groupPageEraseMutation>
      triggerLabel="Erase group"
      title="Erase group?"
      mutation={ERASE}
      variables={{ input: { projectIdOrName: project, groupRef } }}
      leadsTo={address('groups')}
    >
      <p>
        This permanently deletes its connections, installations, operations and events. You can't
        undo it.
      </p>
    </ConfirmChange>
  );
}
