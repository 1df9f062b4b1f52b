/** One integration: its revisions, the difference between two of them, and its installations. */
import { graphql } from 'react-relay';
import { Link, Redirect } from 'wouter';
import type { integrationPageDeleteMutation } from '../../__generated__/integrationPageDeleteMutation.graphql.ts';
import type { integrationPageQuery } from '../../__generated__/integrationPageQuery.graphql.ts';
import { ConnectCustomer } from '../connections/connect-customer.tsx';
import { ContractTable } from '../contract/contract-table.tsx';
import { InstallationRows } from '../installations/installation-rows.tsx';
import { Copyable } from '../parts/copy.tsx';
import { ConfirmChange } from '../parts/dialog.tsx';
import { useProjectLink } from '../parts/filters.tsx';
import { getIntegrationName } from '../parts/integration-name.ts';
import { Empty, NotFound, Page, Panel } from '../parts/page.tsx';
import { ProviderName } from '../parts/provider-mark.tsx';
import { usePageQuery } from '../parts/queries.ts';
import type { ConsolePageProps } from '../shell/pages.ts';
import { NewRevision } from './new-revision.tsx';
import { Revisions } from './revisions.tsx';

const PAGE_QUERY = graphql`
  query integrationPageQuery($project: String!, $name: String!) {
    project(idOrName: $project) {
      integration(idOrName: $name) {
        id
        ...integrationName_integration @relay(mask: false)
        provider
        connectSchemes
        latestRevision {
          contract {
            ...contractTable_contract
          }
          ...content_revision
        }
        ...revisions_integration
        installations(first: 50) {
          totalCount
          nodes {
            id
            ...installationRows_installation
          }
        }
      }
    }
  }
`;

const DELETE_INTEGRATION = graphql`
  mutation integrationPageDeleteMutation($input: DeleteIntegrationInput!) {
    deleteIntegration(input: $input) {
      deletedId
    }
  }
`;

/**
 * People may type `/integrations/new`, although the form has another URL. An integration may also have the
 * name `new`.
 */
const NEW_FORM_PATH = 'new';

export default function IntegrationPage({
  project: projectIdOrName,
  id: name = '',
}: ConsolePageProps) {
  const variables = { project: projectIdOrName, name };
  const { project } = usePageQuery<integrationPageQuery>(PAGE_QUERY, variables);
  const linkTo = useProjectLink(projectIdOrName);
  const integration = project?.integration;
  if (!integration && name === NEW_FORM_PATH) return <Redirect to={linkTo('new-integration')} />;
  if (!integration) return <NotFound noun="integration" />;
  const { totalCount, nodes } = integration.installations;
  const input = { projectIdOrName, integrationIdOrName: integration.id };
  return (
    <Page
      title={getIntegrationName(integration)}
      description={
        <div className="row">
          <Copyable value={integration.name} label="name" />
          <Link href={linkTo(`providers/${integration.provider}`)}>
            <ProviderName provider={integration.provider} />
          </Link>
        </div>
      }
      actions={
        <>
          <NewRevision
            kind={nodes.length === 0 ? 'plain' : 'primary'}
            input={input}
            integration={{ name: integration.name, provider: integration.provider }}
            latestRevision={integration.latestRevision}
          />
          <ConfirmChange<integrationPageDeleteMutation>
            triggerLabel="Delete"
            title={`Delete ${getIntegrationName(integration)}?`}
            mutation={DELETE_INTEGRATION}
            variables={{ input }}
            leadsTo={linkTo('integrations')}
          >
            <p>This also deletes its installations ({totalCount}) and their schedules.</p>
          </ConfirmChange>
        </>
      }
      query={PAGE_QUERY}
      variables={variables}
    >
      {integration.connectSchemes.length === 0 && (
        <p role="alert" className="refusal">
          The connect page does not offer this integration, because customers can't sign in at the
          provider without a provider app and its scopes.{' '}
          <Link href={linkTo(`providers/${integration.provider}`)}>Set up the provider app</Link>
        </p>
      )}
      <Panel title="Revisions">
        <Revisions integration={integration} />
      </Panel>
      {integration.latestRevision.contract && (
        <Panel title="Contract of the latest revision">
          <ContractTable contract={integration.latestRevision.contract} />
        </Panel>
      )}
      <Panel title={`Installations (${totalCount})`}>
        {nodes.length === 0 ? (
          <Empty title="No installations yet">
            <p>
              Customers install the integration on the connect page, or your backend calls
              createInstallation.
            </p>
            <ConnectCustomer project={projectIdOrName} integration={integration.name} />
          </Empty>
        ) : (
          <InstallationRows installations={nodes} linkTo={linkTo} parent="integration" />
        )}
        {totalCount > nodes.length && (
          <p>
            <Link
              href={linkTo(`installations?integration=${encodeURIComponent(integration.name)}`)}
            >
              Show all {totalCount} installations
            </Link>
          </p>
        )}
      </Panel>
    </Page>
  );
}
