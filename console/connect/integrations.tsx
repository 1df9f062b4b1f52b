/** Integrations that the end user can connect, each with its state. */
import { useEffect } from 'react';
import { graphql } from 'react-relay';
import type { integrationsQuery } from '../__generated__/integrationsQuery.graphql.ts';
import { Action } from '../src/parts/form.tsx';
import { Empty } from '../src/parts/page.tsx';
import { usePageQuery } from '../src/parts/queries.ts';
import { OUR_FAULT } from './customer-problem.ts';
import { IntegrationCard } from './integration-card.tsx';
import { isOpened, notifyOpener, reconnectId } from './opener.ts';
import type { Returned, Session } from './session-token.ts';

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
        appName
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
            ...integrationCard_integration
          }
        }
        connections(first: 100) {
          nodes {
            id
            provider
            status
            authScheme
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
    providers(first: 100) {
      nodes {
        name
        displayName
        ...credentialsForm_provider
      }
    }
  }
`;

const POLL_MS = 1_500;

interface IntegrationsProps {
  session: Session;
  returned: Returned | null;
}

export function Integrations({ session, returned }: IntegrationsProps) {
  const { viewer, providers } = usePageQuery<integrationsQuery>(QUERY, {}, { everyMs: POLL_MS });
  const { project, group, consumer, permissions } = viewer;
  const appName = project?.appName;
  useEffect(() => {
    document.title = appName ? `Connect with ${appName}` : 'Connect';
  }, [appName]);
  const returnedConnection = project?.connections.nodes.find(
    ({ id }) => id === returned?.connectionId,
  );
  const provider = returnedConnection?.provider;
  useEffect(() => {
    if (returned?.connectionId && provider) {
      notifyOpener({ type: 'connected', connectionId: returned.connectionId, provider });
    }
  }, [returned, provider]);
  useEffect(() => {
    if (returned?.isSetup) notifyOpener({ type: 'failed', detail: returned.failure ?? '' });
  }, [returned]);
  if (!project || !group || !consumer) {
    return (
      <Empty title="This page is for end users">
        A backend's key has no accounts. Open the page with the token of an end user.
      </Empty>
    );
  }
  const parties = { groupRef: group.groupRef, consumerRef: consumer.consumerRef };
  const { integrations, connections, installations, entitlements } = project;
  const connectionOf = (integration: { provider: string }) =>
    connections.nodes.find((connection) => connection.provider === integration.provider) ?? null;
  // Several integrations may share the connection. One form is enough.
  const reconnecting = integrations.nodes.find(
    (integration) => reconnectId !== null && connectionOf(integration)?.id === reconnectId,
  );
  return (
    <>
      <header>
        <h1>{project.appName}</h1>
        <p className="quiet">Connect accounts for {group.groupName}</p>
      </header>
      {returned?.failure != null && (
        <p role="alert" className="refusal">
          {returned.isSetup ? OUR_FAULT : `The account was not connected: ${returned.failure}`}
        </p>
      )}
      {integrations.nodes.length === 0 && <Empty title="No integrations yet" />}
      {integrations.nodes.map((integration) => (
        <IntegrationCard
          key={integration.id}
          projectId={project.id}
          parties={parties}
          permissions={permissions}
          startsConnecting={integration === reconnecting}
          integration={integration}
          provider={providers.nodes.find(({ name }) => name === integration.provider) ?? null}
          connection={connectionOf(integration)}
          installationIds={installations.nodes
            .filter((installation) => installation.connection.id === connectionOf(integration)?.id)
            .map(({ id }) => id)}
          installation={
            installations.nodes.find(
              (installation) => installation.integration.id === integration.id,
            ) ?? null
          }
        />
      ))}
      <Leave session={session} />
      {!entitlements.brandingRemoval.value && (
        <footer className="quiet">Connected by Integration gateway</footer>
      )}
    </>
  );
}

/** Link back to the page that the user came from. */
function Leave({ session: { returnUrl } }: { session: Session }) {
  if (isOpened) {
    return (
      <div className="row end">
        <Action onPress={() => notifyOpener({ type: 'closed' })}>Done</Action>
      </div>
    );
  }
  return returnUrl ? (
    <div className="row end">
      <a className="action" href={returnUrl}>
        Back
      </a>
    </div>
  ) : null;
}
