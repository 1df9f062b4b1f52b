/** Integrations that the end user can connect, each with its state. */
import { useEffect } from 'react';
import { graphql } from 'react-relay';
import type { integrationsQuery } from '../__generated__/integrationsQuery.graphql.ts';
import { describeConsentFailure } from '../common/customer-messages.ts';
import { Action } from '../src/parts/form.tsx';
import { Empty, Loaded } from '../src/parts/page.tsx';
import { usePageQuery } from '../src/parts/queries.ts';
import { Approvals } from './approvals.tsx';
import { Branded, BrandedTitle } from './branding.tsx';
import type { ConsentResult } from './consent-redirect.ts';
import { PackageLink } from './consent-step.tsx';
import { IntegrationCard } from './integration-card.tsx';
import { type Messages, useMessages } from './messages.ts';
import { hasOpener, notifyOpener, reconnectId } from './opener.ts';
import type { Session } from './session-token.ts';

const QUERY = graphql`
  query integrationsQuery {
    viewer {
      permissions
      group {
        groupRef
        groupName
      }
      consumer {
        consumerRef
      }
      project {
        id
        ...branding_project
        entitlements {
          brandingRemoval {
            value
          }
        }
        integrations(first: 100) {
          nodes {
            id
            name
            provider
            connectSchemes
            ...integrationCard_integration
          }
        }
        connections(first: 100) {
          nodes {
            id
            provider
            status
            authScheme
            providerMetadata
            consumer {
              consumerRef
            }
          }
        }
        installations(first: 100) {
          nodes {
            id
            integration {
              id
            }
            connection {
              id
            }
            ...installedPart_installation
          }
        }
      }
    }
    providers(first: 500) {
      nodes {
        name
        displayName
        workspaceInput {
          optional
        }
        customInputs {
          name
        }
        ...credentialsForm_provider
      }
    }
  }
`;

const POLL_MS = 1_500;

interface IntegrationsProps {
  session: Session;
  consentResult: ConsentResult | null;
}

export function Integrations(props: IntegrationsProps) {
  const response = usePageQuery<integrationsQuery>(QUERY, {}, { everyMs: POLL_MS });
  const { project } = response.viewer;
  const page = <IntegrationCards {...props} response={response} />;
  return project ? <Branded project={project}>{page}</Branded> : page;
}

interface IntegrationCardsProps extends IntegrationsProps {
  response: integrationsQuery['response'];
}

function IntegrationCards({ session, consentResult, response }: IntegrationCardsProps) {
  const messages = useMessages();
  const { viewer, providers } = response;
  const { project, group, consumer, permissions } = viewer;
  const returnedConnection = project?.connections.nodes.find(
    ({ id }) => id === consentResult?.connectionId,
  );
  const provider = returnedConnection?.provider;
  useEffect(() => {
    if (consentResult?.connectionId && provider) {
      notifyOpener({ type: 'connected', connectionId: consentResult.connectionId, provider });
    }
  }, [consentResult, provider]);
  useEffect(() => {
    if (consentResult?.failure?.isSetupProblem)
      notifyOpener({ type: 'failed', detail: consentResult.failure.detail });
  }, [consentResult]);
  if (!project || !group || !consumer) {
    return <Empty title={messages.onlyForEndUsers}>{messages.openWithUserToken}</Empty>;
  }
  const parties = { groupRef: group.groupRef, consumerRef: consumer.consumerRef };
  const { integrations, connections, installations, entitlements } = project;
  const findConnection = (integration: { provider: string }) =>
    connections.nodes.find((connection) => connection.provider === integration.provider) ?? null;
  // Several integrations may use the connection to reconnect. Open the form in only one card.
  const integrationToReconnect = integrations.nodes.find(
    (integration) => reconnectId !== null && findConnection(integration)?.id === reconnectId,
  );
  const mayApprove = permissions.includes('APPROVE');
  const canOnlyApprove = permissions.every((permission) => permission === 'APPROVE');
  const isForApproval = mayApprove && (session.proposalId !== null || canOnlyApprove);
  // The project lacks what connecting these needs. The console shows why.
  const isOffered = (integration: (typeof integrations.nodes)[number]) =>
    integration.connectSchemes.length > 0 || findConnection(integration) !== null;
  const visibleIntegrations = isForApproval ? [] : integrations.nodes.filter(isOffered);
  return (
    <>
      <header>
        <BrandedTitle project={project} isForApproval={isForApproval} />
        <p className="quiet">
          {isForApproval
            ? messages.approvalsFor(group.groupName)
            : messages.connectAccountsFor(group.groupName)}
        </p>
      </header>
      {mayApprove && (
        <Loaded resetKey="approvals">
          <Approvals proposalId={session.proposalId} />
        </Loaded>
      )}
      {consentResult?.failure != null && (
        <div role="alert" className="refusal">
          <p>{describeFailure(messages, consentResult.failure)}</p>
          {consentResult.packageUrl && <PackageLink url={consentResult.packageUrl} />}
        </div>
      )}
      {visibleIntegrations.length === 0 &&
        !isForApproval &&
        (integrations.nodes.length === 0 ? (
          <Empty title={messages.noIntegrations} />
        ) : (
          <Empty title={messages.nothingOffered}>{messages.setupIncomplete}</Empty>
        ))}
      {visibleIntegrations.map((integration) => (
        <IntegrationCard
          key={integration.id}
          projectId={project.id}
          parties={parties}
          permissions={permissions}
          startsConnecting={integration === integrationToReconnect}
          integration={integration}
          provider={providers.nodes.find(({ name }) => name === integration.provider) ?? null}
          connection={findConnection(integration)}
          installationIds={installations.nodes
            .filter(
              (installation) => installation.connection.id === findConnection(integration)?.id,
            )
            .map(({ id }) => id)}
          installation={
            installations.nodes.find(
              (installation) => installation.integration.id === integration.id,
            ) ?? null
          }
        />
      ))}
      <ReturnAction session={session} />
      {!entitlements.brandingRemoval.value && (
        <footer className="quiet">{messages.connectedByGateway}</footer>
      )}
    </>
  );
}

function describeFailure(
  messages: Messages,
  { error, detail, isProviderText, isSetupProblem }: NonNullable<ConsentResult['failure']>,
): string {
  if (isSetupProblem) return messages.ourFault;
  const providerText = isProviderText ? detail : null;
  return messages.notConnectedBecause(describeConsentFailure(messages, { error, providerText }));
}

/** Closes the page for its opener, or links to the page that the user came from. */
function ReturnAction({ session: { returnUrl } }: { session: Session }) {
  const messages = useMessages();
  if (hasOpener) {
    return (
      <div className="row end">
        <Action onPress={() => notifyOpener({ type: 'closed' })}>{messages.done}</Action>
      </div>
    );
  }
  return returnUrl ? (
    <div className="row end">
      <a className="action" href={returnUrl}>
        {messages.back}
      </a>
    </div>
  ) : null;
}
