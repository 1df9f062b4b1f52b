/** The integrations of the project. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { integrationsPageQuery } from '../../__generated__/integrationsPageQuery.graphql.ts';
import { useAddress } from '../parts/filters.tsx';
import { Empty, Missing, Page } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { PageProps } from '../shell/places.ts';
import { NewIntegration } from './new-integration.tsx';

const QUERY = graphql`
  query integrationsPageQuery($project: String!) {
    project(idOrName: $project) {
      integrations(first: 100) {
        nodes {
          id
          name
          provider
          createTime
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
  const variables = { project: idOrName };
  const { project } = usePageQuery<integrationsPageQuery>(QUERY, variables);
  const address = useAddress(idOrName);
  if (!project) return <Missing what="project" />;
  const { nodes } = project.integrations;
  return (
    <Page
      title="Integrations"
      about="What to read, write and forward for every customer who installs it, in revisions."
      actions={<NewIntegration project={idOrName} />}
      query={QUERY}
      variables={variables}
    >
      <section className="card">
        {nodes.length === 0 ? (
          <Empty title="No integration yet">
            Write the first one: it names a provider and its objects.
          </Empty>
        ) : (
          <Table label="Integrations" columns={COLUMNS}>
            {nodes.map(({ id, name, provider, latestRevision: { content, createTime }, ...of }) => (
              <tr key={id}>
                <td>
                  <Link href={address(`integrations/${name}`)} className="strong">
                    {content.displayName ?? name}
                  </Link>
                </td>
                <td>{provider}</td>
                <td>{namesOf(content.read)}</td>
                <td>{namesOf(content.write)}</td>
                <td>{of.revisions.totalCount}</td>
                <td>{of.installations.totalCount}</td>
                <td>
                  <Time of={createTime} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </section>
    </Page>
  );
}
