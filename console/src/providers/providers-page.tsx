/** The project's custom providers, and the catalog of providers. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { providersPageQuery } from '../../__generated__/providersPageQuery.graphql.ts';
import { Search, useProjectLink, useSearch } from '../parts/filters.tsx';
import { Empty, ListPage } from '../parts/page.tsx';
import { ProviderMark } from '../parts/provider-mark.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { formatWords, getSchemeName, Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';

const PAGE_QUERY = graphql`
  query providersPageQuery($project: String!) {
    project(idOrName: $project) {
      customProviders(first: 50) {
        nodes {
          name
          problem
          provider {
            displayName
            supports
            authSchemes
          }
        }
      }
    }
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

const MAIN_CAPABILITIES: Record<string, string> = {
  READ: 'reads',
  WRITE: 'writes',
  SUBSCRIBE: 'events',
};
const ALTERNATIVES = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Says which main capabilities the provider lacks. Empty if it lacks none. */
function describeLack(supports: readonly string[]): string {
  const missing = Object.keys(MAIN_CAPABILITIES).filter((name) => !supports.includes(name));
  if (missing.length === 0) return '';
  return `no ${ALTERNATIVES.format(missing.map((name) => MAIN_CAPABILITIES[name] ?? name))}`;
}

export default function ProvidersPage({ project }: ConsolePageProps) {
  const variables = { project };
  const data = usePageQuery<providersPageQuery>(PAGE_QUERY, variables);
  const search = useSearch().search?.toLowerCase() ?? '';
  const linkTo = useProjectLink(project);
  const matches = ({ name, displayName }: { name: string; displayName: string }) =>
    `${name} ${displayName}`.toLowerCase().includes(search);
  const customProviders = (data.project?.customProviders.nodes ?? [])
    .map(({ provider, ...custom }) => ({
      isCustom: true,
      displayName: custom.name,
      supports: [] as readonly string[],
      authSchemes: [] as readonly string[],
      ...custom,
      ...provider,
    }))
    .filter(matches)
    .toSorted((a, b) => a.name.localeCompare(b.name));
  const builtIn = data.providers.nodes
    .map((provider) => ({ isCustom: false, problem: null, ...provider }))
    .filter(matches)
    .toSorted((a, b) => a.displayName.localeCompare(b.displayName));
  const matching = [...customProviders, ...builtIn];
  return (
    <ListPage
      title="Providers"
      description="Services that can be connected, and what the gateway supports at each."
      actions={
        <Link href={linkTo('new-provider')} className="action primary">
          Create provider
        </Link>
      }
      query={PAGE_QUERY}
      variables={variables}
      filters={<Search />}
    >
      {matching.length === 0 ? (
        <Empty title="No providers match" />
      ) : (
        <Table label="Providers" columns={COLUMNS} detailColumns={['Authentication']}>
          {matching.map(({ name, displayName, isCustom, problem, supports, authSchemes }) => (
            <tr key={name}>
              <td>
                <Link href={linkTo(`providers/${name}`)} className="strong">
                  <span className="provider">
                    <ProviderMark displayName={displayName} /> {displayName}
                  </span>
                </Link>{' '}
                {isCustom && <span className="tag">Custom</span>}{' '}
                {problem !== null && <Status value="ERROR" label="Can’t be used" />}
              </td>
              <td>
                <div className="row tags">
                  {supports.map((capability) => (
                    <span key={capability} className="tag">
                      {formatWords(capability)}
                    </span>
                  ))}
                  {supports.length > 0 && <span className="quiet">{describeLack(supports)}</span>}
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
