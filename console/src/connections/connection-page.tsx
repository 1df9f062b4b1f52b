/** One connection: its account, its status, and the installations that use it. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { connectionPageDeleteMutation } from '../../__generated__/connectionPageDeleteMutation.graphql.ts';
import type { connectionPageQuery } from '../../__generated__/connectionPageQuery.graphql.ts';
import type { connectionPageRefreshMutation } from '../../__generated__/connectionPageRefreshMutation.graphql.ts';
import { InstallationRows } from '../installations/installation-rows.tsx';
import { ConnectionRequests } from '../operations/recorded-requests.tsx';
import { Copyable } from '../parts/copy.tsx';
import { ConfirmChange } from '../parts/dialog.tsx';
import { useProjectLink } from '../parts/filters.tsx';
import { Action, Refusal } from '../parts/form.tsx';
import { Empty, NotFound, Page, Panel } from '../parts/page.tsx';
import { useProviderNames } from '../parts/provider-mark.tsx';
import { useChange, usePageQuery } from '../parts/queries.ts';
import { getSchemeName, Status } from '../parts/status.tsx';
import { Facts, Json } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';
import { ConnectCustomer } from './connect-customer.tsx';
import { ConsentAction } from './consent-action.tsx';
import { ReconnectLink } from './reconnect-link.tsx';

const PAGE_QUERY = graphql`
  query connectionPageQuery($id: ID!) {
    node(id: $id) {
      ... on ConnectedAccount @alias(as: "connection") {
        id
        provider
        status
        authScheme
        createTime
        updateTime
        tokenExpireTime
        providerWorkspaceRef
        providerConsumerRef
        providerMetadata
        group {
          groupRef
          groupName
        }
        consumer {
          consumerRef
          consumerName
        }
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

const REFRESH_CONNECTION = graphql`
  mutation connectionPageRefreshMutation($input: RefreshConnectionInput!) {
    refreshConnection(input: $input) {
      connection {
        id
        status
        updateTime
      }
    }
  }
`;

const DELETE_CONNECTION = graphql`
  mutation connectionPageDeleteMutation($input: DeleteConnectionInput!) {
    deleteConnection(input: $input) {
      deletedId
    }
  }
`;

type Connection = NonNullable<NonNullable<connectionPageQuery['response']['node']>['connection']>;

export default function ConnectionPage({ project, id = '' }: ConsolePageProps) {
  const variables = { id };
  const { node } = usePageQuery<connectionPageQuery>(PAGE_QUERY, variables);
  const getProviderName = useProviderNames();
  const linkTo = useProjectLink(project);
  const connection = node?.connection;
  if (!connection) return <NotFound noun="connection" />;
  const { group, consumer, provider, authScheme, providerMetadata } = connection;
  const title = `${group.groupName} at ${getProviderName(provider)}`;
  return (
    <Page
      title={title}
      actions={<Actions project={project} connection={connection} title={title} />}
      query={PAGE_QUERY}
      variables={variables}
    >
      <Panel>
        <Facts
          facts={{
            Status: <Status value={connection.status} />,
            Authentication: getSchemeName(authScheme),
            Group: (
              <Link href={linkTo(`groups/${encodeURIComponent(group.groupRef)}`)}>
                {group.groupName}
              </Link>
            ),
            Consumer: `${consumer.consumerName} (${consumer.consumerRef})`,
            'Access token expires': usesTokens(authScheme) ? (
              <Time value={connection.tokenExpireTime} none="unknown" />
            ) : null,
            Workspace: connection.providerWorkspaceRef,
            'Account at the provider': connection.providerConsumerRef,
            Created: <Time value={connection.createTime} />,
            Changed: connection.updateTime && <Time value={connection.updateTime} />,
            ID: <Copyable value={connection.id} label="ID" />,
          }}
        />
      </Panel>
      <Panel title="Installations">
        <Installations project={project} connection={connection} linkTo={linkTo} />
      </Panel>
      <ConnectionRequests id={connection.id} />
      {providerMetadata && (
        <Panel title="Metadata of the account">
          <Json value={providerMetadata} label="Metadata of the account" />
        </Panel>
      )}
    </Page>
  );
}

interface InstallationsProps {
  project: string;
  connection: Connection;
  linkTo: (path: string) => string;
}

function Installations({ project, connection, linkTo }: InstallationsProps) {
  const { group, consumer, installations } = connection;
  if (installations.totalCount === 0) {
    return (
      <Empty title="No installation uses this connection">
        <p>
          The group installs an integration on the connect page, or your backend calls{' '}
          <code>createInstallation</code>.
        </p>
        <ConnectCustomer
          project={project}
          groupRef={group.groupRef}
          consumerRef={consumer.consumerRef}
        />
      </Empty>
    );
  }
  return (
    <InstallationRows installations={installations.nodes} linkTo={linkTo} parent="connection" />
  );
}

/** True if the gateway requests access tokens for the connection. */
const usesTokens = (scheme: string) => scheme.startsWith('OAUTH2');

interface ActionsProps {
  project: string;
  connection: Connection;
  title: string;
}

function Actions({ project, connection, title }: ActionsProps) {
  const linkTo = useProjectLink(project);
  const refresh = useChange<connectionPageRefreshMutation>(REFRESH_CONNECTION);
  const { id: connectionId, authScheme, group, consumer, installations } = connection;
  const input = { projectIdOrName: project, connectionId };
  return (
    <>
      <Refusal problem={refresh.problem} />
      {usesTokens(authScheme) && (
        <Action isPending={refresh.isRunning} onPress={() => refresh.run({ input })}>
          Refresh token
        </Action>
      )}
      <ReconnectLink
        project={project}
        connectionId={connectionId}
        groupRef={group.groupRef}
        consumerRef={consumer.consumerRef}
      />
      {authScheme.startsWith('OAUTH2_AUTHORIZATION') && <ConsentAction input={input} />}
      <ConfirmChange<connectionPageDeleteMutation>
        triggerLabel="Delete"
        title={`Delete ${title}?`}
        mutation={DELETE_CONNECTION}
        variables={{ input }}
        leadsTo={linkTo('connections')}
      >
        {installations.totalCount > 0 ? (
          <>
            <p>
              These installations use the connection. Delete them first, or give them another
              connection:
            </p>
            <InstallationRows
              installations={installations.nodes}
              linkTo={linkTo}
              parent="connection"
            />
          </>
        ) : (
          <p>No installation uses it. To use this account again, the group has to reconnect.</p>
        )}
      </ConfirmChange>
    </>
  );
}
