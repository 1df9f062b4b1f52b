/** Creates an integration: a person chooses a provider, and fills a template or writes YAML. */
import { useState } from 'react';
import { graphql } from 'react-relay';
import { Link, useLocation } from 'wouter';
import type { newIntegrationPageQuery } from '../../__generated__/newIntegrationPageQuery.graphql.ts';
import { useProjectLink, useTextFilter } from '../parts/filters.tsx';
import { SearchInput } from '../parts/form.tsx';
import { Empty, NotFound, Page, Panel } from '../parts/page.tsx';
import { ProviderMark } from '../parts/provider-mark.tsx';
import { usePageQuery } from '../parts/queries.ts';
import type { ConsolePageProps } from '../shell/pages.ts';
import { IntegrationForm } from './integration-form.tsx';

const PAGE_QUERY = graphql`
  query newIntegrationPageQuery($project: String!) {
    project(idOrName: $project) {
      name
      customProviders(first: 50) {
        nodes {
          provider {
            name
            displayName
            supports
            objects {
              name
              displayName
            }
          }
        }
      }
      destinations(first: 100) {
        nodes {
          name
        }
      }
    }
    providers(first: 500) {
      nodes {
        name
        displayName
        supports
        objects {
          name
          displayName
        }
      }
    }
  }
`;

const SANDBOX = 'sandbox';

export default function NewIntegrationPage({ project: projectIdOrName }: ConsolePageProps) {
  const variables = { project: projectIdOrName };
  const { project, providers } = usePageQuery<newIntegrationPageQuery>(PAGE_QUERY, variables);
  const providerName = useTextFilter('provider');
  const linkTo = useProjectLink(projectIdOrName);
  const [, navigate] = useLocation();
  if (!project) return <NotFound noun="project" />;
  const allProviders = [
    ...project.customProviders.nodes.flatMap(({ provider }) => provider ?? []),
    ...providers.nodes,
  ];
  const hasSandbox = allProviders.some(({ name }) => name === SANDBOX);
  const provider = allProviders.find(({ name }) => name === providerName);
  return (
    <Page
      title="New integration"
      description={
        provider ? (
          <>
            {provider.displayName} ·{' '}
            <Link href={linkTo('new-integration')}>Choose another provider</Link>
          </>
        ) : (
          `Choose the service that you integrate.${hasSandbox ? ' The sandbox needs no account.' : ''}`
        )
      }
      query={PAGE_QUERY}
      variables={variables}
    >
      {provider ? (
        <IntegrationForm
          key={provider.name}
          project={projectIdOrName}
          provider={provider}
          destinations={project.destinations.nodes.map(({ name }) => name)}
          onDone={(name) => navigate(linkTo(`integrations/${encodeURIComponent(name)}`))}
          onCancel={() => navigate(linkTo('integrations'))}
        />
      ) : (
        <ProviderTiles
          // The sandbox comes first, because it needs no account.
          providers={allProviders.toSorted(
            (a, b) =>
              Number(b.name === SANDBOX) - Number(a.name === SANDBOX) ||
              a.displayName.localeCompare(b.displayName),
          )}
          linkTo={linkTo}
        />
      )}
    </Page>
  );
}

/** True if the gateway reads or writes records of the provider, and does not only forward requests. */
const hasRecords = (supports: readonly string[]) =>
  supports.includes('READ') || supports.includes('WRITE');

interface ProviderTilesProps {
  providers: readonly { name: string; displayName: string; supports: readonly string[] }[];
  linkTo: (path: string) => string;
}

function ProviderTiles({ providers, linkTo }: ProviderTilesProps) {
  const [text, setText] = useState('');
  const matching = providers.filter(({ name, displayName }) =>
    `${name} ${displayName}`.toLowerCase().includes(text.trim().toLowerCase()),
  );
  const proxyOnly = matching.filter(({ supports }) => !hasRecords(supports));
  const withRecords = matching.filter(({ supports }) => hasRecords(supports));
  return (
    <>
      <div className="filters">
        <SearchInput label="Provider" value={text} onChange={setText} />
      </div>
      {matching.length === 0 && (
        <Panel>
          <Empty title="No providers match" />
        </Panel>
      )}
      <Tiles title="Read and write records" providers={withRecords} linkTo={linkTo} />
      <Tiles title="Only forward requests" providers={proxyOnly} linkTo={linkTo} />
    </>
  );
}

function Tiles({ title, providers, linkTo }: ProviderTilesProps & { title: string }) {
  if (providers.length === 0) return null;
  return (
    <Panel title={title}>
      <ul className="tiles">
        {providers.map(({ name, displayName }) => (
          <li key={name}>
            <Link href={linkTo(`new-integration?provider=${name}`)} className="tile">
              <ProviderMark displayName={displayName} />
              {displayName}
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
