/** One provider: its capabilities, the document of a custom one, and the project's provider apps. */
import { graphql } from 'react-relay';
import type { providerPageQuery } from '../../__generated__/providerPageQuery.graphql.ts';
import { Copyable } from '../parts/copy.tsx';
import { NotFound, Page, Panel } from '../parts/page.tsx';
import { ProviderMark } from '../parts/provider-mark.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { formatWords, getSchemeName } from '../parts/status.tsx';
import { Facts } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';
import { CustomProvider } from './custom-provider.tsx';
import { NewApp, ProviderApps } from './provider-apps.tsx';

const PAGE_QUERY = graphql`
  query providerPageQuery($project: String!, $name: String!) {
    provider(name: $name, projectIdOrName: $project) {
      name
      displayName
      baseUrl
      docsUrl
      apiVersion
      authSchemes
      supports
      scopes
      ...providerApps_provider
      inputs {
        displayName
      }
      modules {
        displayName
        inputs {
          displayName
        }
      }
      objects {
        name
        displayName
      }
    }
    project(idOrName: $project) {
      customProviders(first: 50) {
        nodes {
          id
          name
        }
      }
      setupFailures {
        provider
        error
        count
        lastFailureTime
      }
      ...providerApps_project @arguments(provider: $name)
    }
  }
`;

const listLabels = (inputs: readonly { displayName: string }[]) =>
  inputs.map(({ displayName }) => displayName).join(', ') || null;

export default function ProviderPage({
  project: projectIdOrName,
  id: name = '',
}: ConsolePageProps) {
  const variables = { project: projectIdOrName, name };
  const { provider, project } = usePageQuery<providerPageQuery>(PAGE_QUERY, variables);
  const custom = project?.customProviders.nodes.find((candidate) => candidate.name === name);
  const customPanel = custom && <CustomProvider project={projectIdOrName} {...custom} />;
  // The document of a custom provider may be unusable.
  if (!provider && customPanel) return <Page title={name}>{customPanel}</Page>;
  if (!provider) return <NotFound noun="provider" />;
  const hasConsent = provider.authSchemes.some((scheme) =>
    scheme.startsWith('OAUTH2_AUTHORIZATION'),
  );
  const failure = project?.setupFailures.find((candidate) => candidate.provider === name);
  return (
    <Page
      title={
        <span className="provider">
          <ProviderMark displayName={provider.displayName} /> {provider.displayName}
        </span>
      }
      name={provider.displayName}
      actions={
        <NewApp projectIdOrName={projectIdOrName} provider={provider} hasConsent={hasConsent} />
      }
      query={PAGE_QUERY}
      variables={variables}
    >
      <Panel>
        <Facts
          facts={{
            Capabilities: provider.supports.map(formatWords).join(', '),
            Authentication: provider.authSchemes.map(getSchemeName).join(', '),
            'Base URL': <code>{provider.baseUrl}</code>,
            'API version': provider.apiVersion,
            Objects: provider.objects.map(({ displayName }) => displayName).join(', ') || null,
            'Other inputs': listLabels(provider.inputs),
            ...Object.fromEntries(
              provider.modules.map((module) => [
                `Inputs of ${module.displayName}`,
                listLabels(module.inputs),
              ]),
            ),
            Scopes: provider.scopes.length > 0 ? <code>{provider.scopes.join(' ')}</code> : null,
            Documentation: provider.docsUrl && <a href={provider.docsUrl}>{provider.docsUrl}</a>,
            Name: <Copyable value={provider.name} label="name" />,
          }}
        />
      </Panel>
      {customPanel}
      {failure && (
        <Panel title="Customers can't connect">
          <p>{failure.error}</p>
          <p className="quiet">
            Failed {failure.count.toLocaleString('en')} {failure.count === 1 ? 'time' : 'times'},
            last <Time value={failure.lastFailureTime} />. Customers saw only that something is
            wrong.
          </p>
        </Panel>
      )}
      <Panel title="Apps of this project">
        {project && (
          <ProviderApps
            project={project}
            projectIdOrName={projectIdOrName}
            hasConsent={hasConsent}
          />
        )}
      </Panel>
    </Page>
  );
}
