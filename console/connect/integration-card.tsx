/** One integration: connect an account, choose what is read, and watch the records arrive. */
import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { credentialsForm_provider$key } from '../__generated__/credentialsForm_provider.graphql.ts';
import type { installedPart_installation$key } from '../__generated__/installedPart_installation.graphql.ts';
import type { integrationCard_integration$key } from '../__generated__/integrationCard_integration.graphql.ts';
import { Action } from '../src/parts/form.tsx';
import { Loaded } from '../src/parts/page.tsx';
import { Status } from '../src/parts/status.tsx';
import { CredentialsForm } from './credentials-form.tsx';
import { Disconnect } from './disconnect.tsx';
import { InstallForm } from './install-form.tsx';
import { InstalledPart } from './installed-part.tsx';
import { useMessages } from './messages.ts';

const INTEGRATION = graphql`
  fragment integrationCard_integration on Integration {
    id
    name
    provider
    latestRevision {
      content {
        displayName
      }
    }
    ...installForm_integration
  }
`;

export interface Parties {
  groupRef: string;
  consumerRef: string;
}

interface IntegrationCardProps {
  projectId: string;
  parties: Parties;
  integration: integrationCard_integration$key;
  provider: (credentialsForm_provider$key & { displayName: string }) | null;
  connection: { id: string; status: string; consumer: { consumerRef: string } } | null;
  /** Installations that use the connection. */
  installationIds: readonly string[];
  installation: installedPart_installation$key | null;
  /** Actions that the token permits, besides reading. */
  permissions: readonly string[];
  /** True if the form to connect is open from the start. */
  startsConnecting: boolean;
}

export function IntegrationCard(props: IntegrationCardProps) {
  const { projectId, parties, provider, connection, installation, permissions } = props;
  const messages = useMessages();
  const mayDisconnect =
    connection?.consumer.consumerRef === parties.consumerRef &&
    permissions.includes('CONNECT') &&
    (props.installationIds.length === 0 || permissions.includes('INSTALL'));
  const integration = useFragment(INTEGRATION, props.integration);
  const [isConnecting, setConnecting] = useState(props.startsConnecting);
  const providerName = provider?.displayName ?? integration.provider;
  const isBroken = connection?.status === 'BAD_CREDENTIALS';
  const title = integration.latestRevision.content.displayName ?? integration.name;
  return (
    <section className="card" aria-label={title}>
      <div className="card-head">
        <div>
          <h2>{title}</h2>
          <span className="quiet">{providerName}</span>
        </div>
        {isBroken ? (
          <Status value="BAD_CREDENTIALS" label={messages.badCredentials} />
        ) : (
          <span className={`status ${connection ? 'good' : 'idle'}`}>
            {connection ? messages.connected : messages.notConnected}
          </span>
        )}
      </div>
      {isBroken && <p>{messages.credentialsRejected}</p>}
      {isConnecting && provider && (
        <CredentialsForm
          projectId={projectId}
          parties={parties}
          provider={provider}
          onDone={() => setConnecting(false)}
        />
      )}
      {!isConnecting && (!connection || isBroken) && (
        <Action kind="primary" onPress={() => setConnecting(true)}>
          {connection
            ? messages.reconnectProvider(providerName)
            : messages.connectProvider(providerName)}
        </Action>
      )}
      {connection &&
        !isBroken &&
        !isConnecting &&
        (installation ? (
          <InstalledPart installation={installation} mayRead={permissions.includes('READ')} />
        ) : (
          <Loaded resetKey={connection.id}>
            <InstallForm
              projectId={projectId}
              groupRef={parties.groupRef}
              connectionId={connection.id}
              integration={integration}
            />
          </Loaded>
        ))}
      {connection && !isConnecting && (
        <div className="row account-actions">
          {!isBroken && (
            <Action kind="quiet" onPress={() => setConnecting(true)}>
              {messages.connectAnotherAccount}
            </Action>
          )}
          {mayDisconnect && (
            <Disconnect
              projectId={projectId}
              connectionId={connection.id}
              installationIds={props.installationIds}
              providerName={providerName}
            />
          )}
        </div>
      )}
    </section>
  );
}
