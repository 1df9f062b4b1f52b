/** The catalogue of providers. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { providersPageQuery } from '../../__generated__/providersPageQuery.graphql.ts';
import { useAddress, useTextFilter } from '../parts/filters.tsx';
import { SearchInput } from '../parts/form.tsx';
import { Empty, Page } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { schemeName, wordsOf } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import type { PageProps } from '../shell/places.ts';

const QUERY = graphql`
  query providersPageQuery {
    providers(first: 100) {
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

export default function ProvidersPage({ project }: PageProps) {
  const { providers } = usePageQuery<providersPageQuery>(QUERY, {});
  const [search, setSearch] = useTextFilter('search');
  const address = useAddress(project);
  const isFound = ({ name, displayName }: { name: string; displayName: string }) =>
    `${name} ${displayName}`.toLowerCase().includes(search.toLowerCase());
  const found = providers.nodes.filter(isFound);
  return (
    <Page
      title="Providers"
      about="What can be connected, and what the gateway can do there."
      query={QUERY}
    >
      <div className="filters">
        <SearchInput label="Search" value={search} onChange={setSearch} />
      </div>
      <section className="card">
        {found.length === 0 ? (
          <Empty title="No provider of that name" />
        ) : (
          <Table label="Providers" columns={['Provider', 'Can', 'Connects by']}>
            {found.map(({ name, displayName, supports, authSchemes }) => (
              <tr key={name}>
                <td>
                  <Link href={address(`providers/${name}`)} className="strong">
                    {displayName}
                  </Link>
                </td>
                <td>
                  <div className="row">
                    {supports.map((one) => (
                      <span key={one} className="tag">
                        {wordsOf(one)}
                      </span>
                    ))}
                  </div>
                </td>
                <td>{authSchemes.map(schemeName).join(', ')}</td>
              </tr>
            ))}
          </Table>
        )}
      </section>
    </Page>
  );
}
