/** One integration: connect an account, choose what is read, and watch the records arrive. */
import { useCallback, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { credentialsForm_provider$key } from '../__generated__/credentialsForm_provider.graphql.ts';
import type { installedPart_installation$key } from '../__generated__/installedPart_installation.graphql.ts';
import type { integrationCard_integration$key } from '../__generated__/integrationCard_integration.graphql.ts';
import { Action, Refusal } from '../src/parts/form.tsx';
import { Loaded } from '../src/parts/page.tsx';
import { Status } from '../src/parts/status.tsx';
import { ConsentProgress, useConsent } from './consent-step.tsx';
import { CredentialsForm } from './credentials-form.tsx';
import { Disconnect } from './disconnect.tsx';
import { InstallForm } from './install-form.tsx';
import { InstalledPart } from './installed-part.tsx';
import { useMessages } from './messages.ts';
import { findMember, listChoices, needsConsent } from './schemes.ts';

const INTEGRATION = graphql`
  fragment integrationCard_integration on Integration {
    id
    name
    provider
    connectSchemes
    connectInputs {
      name
      displayName
      optional
    }
    latestRevision {
      content {
        displayName
      }
    }
    ...credentialsForm_integration
    ...installForm_integration
  }
`;

export interface Parties {
  groupRef: string;
  consumerRef: string;
}

interface CardProvider {
  name: string;
  displayName: string;
  workspaceInput: { optional: boolean } | null | undefined;
  customInputs: readonly object[];
}

interface IntegrationCardProps {
  projectId: string;
  parties: Parties;
  integration: integrationCard_integration$key;
  provider: (credentialsForm_provider$key & CardProvider) | null;
  connection: {
    id: string;
    status: string;
    providerMetadata?: unknown;
    consumer: { consumerRef: string };
  } | null;
  /** Installations that use the connection. */
  installationIds: readonly string[];
  installation: installedPart_installation$key | null;
  /** Actions that the token permits, besides reading. */
  permissions: readonly string[];
  /** True if the form to connect is open from the start. */
  startsConnecting: boolean;
}

/** The page shows a new connection when it refreshes. */
const ignoreEnd = () => {};

export function IntegrationCard(props: IntegrationCardProps) {
  const { projectId, parties, provider, connection, installation, permissions } = props;
  const messages = useMessages();
  const mayDisconnect =
    connection?.consumer.consumerRef === parties.consumerRef &&
    permissions.includes('CONNECT') &&
    (props.installationIds.length === 0 || permissions.includes('INSTALL'));
  const integration = useFragment(INTEGRATION, props.integration);
  /** The schemes in the open form. Null if it is closed. */
  const [openChoices, setOpenChoices] = useState<readonly string[] | null>(null);
  const consent = useConsent(ignoreEnd);
  const choices = provider
    ? listChoices(integration.connectSchemes, provider.customInputs.length > 0)
    : [];
  /** The form with all choices also accepts the workspace that a consent does not need. */
  const otherChoices = provider?.workspaceInput
    ? choices
    : choices.filter((scheme) => !needsConsent(scheme));
  const { connectInputs } = integration;
  const isDirect =
    provider !== null && connectInputs.length === 0 && canConsentDirectly(provider, choices);
  const [isReconnecting, setReconnecting] = useState(props.startsConnecting);
  const formChoices = openChoices ?? (isReconnecting ? choices : null);
  const isConnecting = formChoices !== null && formChoices.length > 0;
  const closeForm = useCallback(() => {
    setOpenChoices(null);
    setReconnecting(false);
  }, []);
  const connect = () =>
    provider && isDirect
      ? consent.start({ projectIdOrName: projectId, provider: provider.name, ...parties })
      : setOpenChoices(choices);
  const providerName = provider?.displayName ?? integration.provider;
  const isBroken = connection?.status === 'BAD_CREDENTIALS';
  const missingInputs =
    connection && !installation
      ? connectInputs.filter(
          ({ name, optional }) =>
            !optional && findMember(connection.providerMetadata, name) === undefined,
        )
      : [];
  const lacksInputs = missingInputs.length > 0;
  const needsAccount = !connection || isBroken || lacksInputs;
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
      {!isBroken && lacksInputs && (
        <p>{messages.detailsMissing(missingInputs.map(({ displayName }) => displayName))}</p>
      )}
      {isConnecting && provider && (
        <CredentialsForm
          projectId={projectId}
          parties={parties}
          provider={provider}
          integration={integration}
          metadata={connection?.providerMetadata ?? null}
          choices={formChoices}
          onDone={closeForm}
        />
      )}
      {!isConnecting && consent.state !== 'ready' && <ConsentProgress consent={consent} />}
      {!isConnecting && consent.state === 'ready' && needsAccount && choices.length > 0 && (
        <>
          <Refusal problem={consent.problem} />
          <div className="row">
            <Action kind="primary" isPending={consent.isStarting} onPress={connect}>
              {connection
                ? messages.reconnectProvider(providerName)
                : messages.connectProvider(providerName)}
            </Action>
            {isDirect && otherChoices.length > 0 && (
              <Action kind="quiet" onPress={() => setOpenChoices(otherChoices)}>
                {messages.otherWaysToConnect}
              </Action>
            )}
          </div>
        </>
      )}
      {connection &&
        !isBroken &&
        !lacksInputs &&
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
          {!needsAccount && choices.length > 0 && (
            <Action kind="quiet" onPress={() => setOpenChoices(choices)}>
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

/** True if the person can consent without entering a workspace first. */
function canConsentDirectly({ workspaceInput }: CardProvider, choices: readonly string[]): boolean {
  return choices.some(needsConsent) && workspaceInput?.optional !== false;
}
