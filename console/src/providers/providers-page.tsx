/** The catalog of providers. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { providersPageQuery } from '../../__generated__/providersPageQuery.graphql.ts';
import { Search, useProjectLink, useSearch } from '../parts/filters.tsx';
import { Empty, ListPage } from '../parts/page.tsx';
import { ProviderName } from '../parts/provider-mark.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { formatWords, getSchemeName } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';

const PAGE_QUERY = graphql`
  query providersPageQuery {
    providers(first: 500) {
      totalCount
      nodes {
        name
        displayName
        supports
        authSchemes
      }
    }
  }
`;

const COLUMNS = ['Provider', 'Capabilities', 'Authentication'];

export default function ProvidersPage({ project }: ConsolePageProps) {
  const { providers } = usePageQuery<providersPageQuery>(PAGE_QUERY, {});
  const search = useSearch().search?.toLowerCase() ?? '';
  const linkTo = useProjectLink(project);
  const matching = providers.nodes
    .filter(({ name, displayName }) => `${name} ${displayName}`.toLowerCase().includes(search))
    .toSorted((a, b) => a.displayName.localeCompare(b.displayName));
  return (
    <ListPage
      title="Providers"
      description="Services that can be connected, and what the gateway supports at each."
      query={PAGE_QUERY}
      filters={<Search />}
    >
      {matching.length === 0 ? (
        <Empty title="No providers match" />
      ) : (
        <Table label="Providers" columns={COLUMNS} detailColumns={['Authentication']}>
          {matching.map(({ name, supports, authSchemes }) => (
            <tr key={name}>
              <td>
                <Link href={linkTo(`providers/${name}`)} className="strong">
                  <ProviderName provider={name} />
                </Link>
              </td>
              <td>
                <div className="row tags">
                  {supports.map((capability) => (
                    <span key={capability} className="tag">
                      {formatWords(capability)}
                    </span>
                  ))}
                  {supports.length === 1 && supports[0] === 'PROXY' && (
                    <span className="quiet">
                      only forwards requests: no reads, writes or events
                    </span>
                  )}
                </div>
              </td>
              <td>{authSchemes.map(getSchemeName).join(', ')}</td>
            </tr>
          ))}
        </Table>
      )}
    </ListPage>
  );
}
