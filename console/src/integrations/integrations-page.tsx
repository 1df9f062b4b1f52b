/** The integrations of the project. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { integrationsPage_project$data } from '../../__generated__/integrationsPage_project.graphql.ts';
import type { integrationsPageQuery } from '../../__generated__/integrationsPageQuery.graphql.ts';
import { Search, useProjectLink, useSearch } from '../parts/filters.tsx';
import { Empty, ListPage, NotFound } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { ProviderName } from '../parts/provider-mark.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';

const PAGE_QUERY = graphql`
  query integrationsPageQuery($project: String!, $search: String) {
    project(idOrName: $project) {
      ...integrationsPage_project @arguments(search: $search)
    }
  }
`;

const INTEGRATIONS = graphql`
  fragment integrationsPage_project on Project
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
    search: { type: "String" }
  )
  @refetchable(queryName: "integrationsPageNextQuery") {
    integrations(first: $count, after: $cursor, search: $search)
      @connection(key: "integrationsPage_integrations") {
      totalCount
      edges {
        node {
          id
          name
          provider
          connectSchemes
          revisions {
            totalCount
          }
          installations {
            totalCount
          }
          latestRevision {
            createTime
            content {
              displayName
              read {
                objects {
                  objectName
                }
              }
              write {
                objects {
                  objectName
                }
              }
            }
          }
        }
      }
    }
  }
`;

const COLUMNS = [
  'Integration',
  'Provider',
  'Reads',
  'Writes',
  'Revisions',
  'Installations',
  'Changed',
];
const DETAIL_COLUMNS = ['Reads', 'Writes', 'Revisions', 'Installations'];
const NO_INTEGRATIONS = (
  <Empty title="No integrations yet">Choose a provider, and what to read and write there.</Empty>
);
const formatObjectNames = (
  part: { objects: readonly { objectName: string }[] } | null | undefined,
) => part?.objects.map(({ objectName }) => objectName).join(', ') || '—';

const getIntegrations = ({ integrations }: integrationsPage_project$data) => integrations;

export default function IntegrationsPage({ project: projectIdOrName }: ConsolePageProps) {
  const { search } = useSearch();
  const variables = { project: projectIdOrName, search };
  const { project } = usePageQuery<integrationsPageQuery>(PAGE_QUERY, variables);
  const linkTo = useProjectLink(projectIdOrName);
  if (!project) return <NotFound noun="project" />;
  return (
    <ListPage
      title="Integrations"
      description="Versioned definitions of what to read, write and proxy for each customer who installs them."
      actions={
        <Link className="action primary" href={linkTo('new-integration')}>
          Create integration
        </Link>
      }
      query={PAGE_QUERY}
      variables={variables}
      filters={<Search label="Name" />}
    >
      <Paged
        fragment={INTEGRATIONS}
        parent={project}
        list={getIntegrations}
        empty={NO_INTEGRATIONS}
      >
        {(integrations) => (
          <Table label="Integrations" columns={COLUMNS} detailColumns={DETAIL_COLUMNS}>
            {integrations.map(({ id, name, provider, latestRevision, ...row }) => (
              <tr key={id}>
                <td>
                  <Link href={linkTo(`integrations/${name}`)} className="strong">
                    {latestRevision.content.displayName ?? name}
                  </Link>
                  {row.connectSchemes.length === 0 && (
                    <div className="quiet">Not offered: provider app missing</div>
                  )}
                </td>
                <td>
                  <ProviderName provider={provider} />
                </td>
                <td>{formatObjectNames(latestRevision.content.read)}</td>
                <td>{formatObjectNames(latestRevision.content.write)}</td>
                <td>{row.revisions.totalCount}</td>
                <td>
                  <Link href={linkTo(`installations?integration=${name}`)}>
                    {row.installations.totalCount.toLocaleString('en')}
                  </Link>
                </td>
                <td>
                  <Time value={latestRevision.createTime} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Paged>
    </ListPage>
  );
}
