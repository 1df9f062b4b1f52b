/** One connection: what it is, whether it works, and what hangs on it. */
import { graphql } from 'react-relay';
import { Link, useLocation } from 'wouter';
import type { connectionPageDeleteMutation } from '../../__generated__/connectionPageDeleteMutation.graphql.ts';
import type { connectionPageQuery } from '../../__generated__/connectionPageQuery.graphql.ts';
import type { connectionPageRefreshMutation } from '../../__generated__/connectionPageRefreshMutation.graphql.ts';
import { GroupInstallations } from '../installations/group-installations.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { useAddress } from '../parts/filters.tsx';
import { Action, Refusal } from '../parts/form.tsx';
import { Missing, Page, Panel } from '../parts/page.tsx';
import { useChange, usePageQuery } from '../parts/queries.ts';
import { Status, schemeName } from '../parts/status.tsx';
import { Facts, Json } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { PageProps } from '../shell/places.ts';
import { ConsentAction } from './consent-action.tsx';

const QUERY = graphql`
  query connectionPageQuery($project: String!, $id: ID!) {
    node(id: $id) {
      ... on ConnectedAccount {
        id
        provider
        status
        authScheme
        createTime
        updateTime
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
      }
    }
    project(idOrName: $project) {
      id
    }
  }
`;

const REFRESH = graphql`
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

const DELETE = graphql`
  mutation connectionPageDeleteMutation($input: DeleteConnectionInput!) {
    deleteConnection(input: $input) {
      deletedId
    }
  }
`;

type Connection = NonNullable<connectionPageQuery['response']['node']>;

export default function ConnectionPage({ project, id = '' }: PageProps) {
  const variables = { project, id };
  const { node } = usePageQuery<connectionPageQuery>(QUERY, variables);
  const address = useAddress(project);
  if (!node?.id) return <Missing what="connection" />;
  return (
    <Page
      title={`${node.group?.groupName} at ${node.provider}`}
      about={<Link href={address('connections')}>Connections</Link>}
      actions={<Actions project={project} connection={node} />}
      query={QUERY}
      variables={variables}
    >
      <Panel>
        <Facts
          of={{
            Status: <Status of={node.status ?? ''} />,
            Scheme: schemeName(node.authScheme ?? ''),
            Group: `${node.group?.groupName} (${node.group?.groupRef})`,
            Consumer: `${node.consumer?.consumerName} (${node.consumer?.consumerRef})`,
            Workspace: node.providerWorkspaceRef,
            'Account at the provider': node.providerConsumerRef,
            Made: <Time of={node.createTime} />,
            Changed: <Time of={node.updateTime} />,
            Id: <code>{node.id}</code>,
          }}
        />
      </Panel>
      <Panel title="Installations of the group">
        <GroupInstallations project={project} groupRef={node.group?.groupRef ?? ''} />
      </Panel>
      {node.providerMetadata && (
        <Panel title="What the provider tells">
          <Json of={node.providerMetadata} label="What the provider tells" />
        </Panel>
      )}
    </Page>
  );
}

function Actions({ project, connection }: { project: string; connection: Connection }) {
  const [, navigate] = useLocation();
  const address = useAddress(project);
  const refresh = useChange<connectionPageRefreshMutation>(REFRESH);
  const remove = useChange<connectionPageDeleteMutation>(DELETE);
  const { id: connectionId = '', authScheme = '' } = connection;
  const input = { projectIdOrName: project, connectionId };
  const byOAuth = authScheme.startsWith('OAUTH2');
  return (
    <>
      <Refusal problem={refresh.problem} />
      {byOAuth && (
        <Action isPending={refresh.isRunning} onPress={() => refresh.run({ input })}>
          Refresh the token
        </Action>
      )}
      {authScheme.startsWith('OAUTH2_AUTHORIZATION') && <ConsentAction input={input} />}
      <Confirm
        opener="Delete"
        title="Delete this connection?"
        problem={remove.problem}
        isRunning={remove.isRunning}
        onConfirm={async () => {
          const done = await remove.run({ input });
          if (done) navigate(address('connections'));
          return done;
        }}
      >
        <p>Installations that read and write through it stop to work:</p>
        <GroupInstallations project={project} groupRef={connection.group?.groupRef ?? ''} />
      </Confirm>
    </>
  );
}
