/** The integrations of the project. */
import { graphql, usePaginationFragment } from 'react-relay';
import { Link } from 'wouter';
import type { integrationsPage_project$key } from '../../__generated__/integrationsPage_project.graphql.ts';
import type { integrationsPageNextQuery } from '../../__generated__/integrationsPageNextQuery.graphql.ts';
import type { integrationsPageQuery } from '../../__generated__/integrationsPageQuery.graphql.ts';
import { Search, useAddress, useSearch } from '../parts/filters.tsx';
import { Empty, Missing, Page } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { PageProps } from '../shell/places.ts';
import { NewIntegration } from './new-integration.tsx';

const QUERY = graphql`
  query integrationsPageQuery($project: String!, $search: String) {
    project(idOrName: $project) {
      ...integrationsPage_project @arguments(search: $search)
    }
  }
`;

const LIST = graphql`
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
const namesOf = (part: { objects: readonly { objectName: string }[] } | null | undefined) =>
  part?.objects.map(({ objectName }) => objectName).join(', ') || '—';

export default function IntegrationsPage({ project: idOrName }: PageProps) {
  const { search } = useSearch();
  const variables = { project: idOrName, search };
  const { project } = usePageQuery<integrationsPageQuery>(QUERY, variables);
  const address = useAddress(idOrName);
  if (!project) return <Missing what="project" />;
  return (
    <Page
      title="Integrations"
      about="What to read, write and forward for every customer who installs it, in revisions."
      actions={<NewIntegration project={idOrName} />}
      query={QUERY}
      variables={variables}
    >
      <div className="filters">
        <Search label="Name" />
      </div>
      <section className="card">
        <List project={project} address={address} />
      </section>
    </Page>
  );
}

interface ListProps {
  project: integrationsPage_project$key;
  address: (path: string) => string;
}

function List({ project, address }: ListProps) {
  const { data, ...pages } = usePaginationFragment<
    integrationsPageNextQuery,
    integrationsPage_project$key
  >(LIST, project);
  const empty = (
    <Empty title="No integration">Write the first one: it names a provider and its objects.</Empty>
  );
  return (
    <Paged list={data.integrations} pages={pages} empty={empty}>
      {(integrations) => (
        <Table label="Integrations" columns={COLUMNS}>
          {integrations.map(({ id, name, provider, latestRevision, ...of }) => (
            <tr key={id}>
              <td>
                <Link href={address(`integrations/${name}`)} className="strong">
                  {latestRevision.content.displayName ?? name}
                </Link>
              </td>
              <td>{provider}</td>
              <td>{namesOf(latestRevision.content.read)}</td>
              <td>{namesOf(latestRevision.content.write)}</td>
              <td>{of.revisions.totalCount}</td>
              <td>
                <Link href={address(`installations?integration=${name}`)}>
                  {of.installations.totalCount.toLocaleString('en')}
                </Link>
              </td>
              <td>
                <Time of={latestRevision.createTime} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Paged>
  );
}
