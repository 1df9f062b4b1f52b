/** One installation: each object with its reads, its subscriptions, its fields and its operations. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { installationPageDeleteMutation } from '../../__generated__/installationPageDeleteMutation.graphql.ts';
import type { installationPageQuery } from '../../__generated__/installationPageQuery.graphql.ts';
import { InstallationContract } from '../contract/installation-contract.tsx';
import { OperationsList } from '../operations/operations-list.tsx';
import { Copyable } from '../parts/copy.tsx';
import { ConfirmChange } from '../parts/dialog.tsx';
import { useProjectLink } from '../parts/filters.tsx';
import { getIntegrationName } from '../parts/integration-name.ts';
import { Empty, Loaded, NotFound, Page, Panel } from '../parts/page.tsx';
import { Principal } from '../parts/principal.tsx';
import { ProviderName } from '../parts/provider-mark.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Status } from '../parts/status.tsx';
import { Facts } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';
import { EditFields } from './edit-fields.tsx';
import { InstalledObjects } from './installed-objects.tsx';
import { Records } from './records.tsx';
import { Subscriptions } from './subscriptions.tsx';

const PAGE_QUERY = graphql`
  query installationPageQuery($id: ID!) {
    node(id: $id) {
      ... on Installation @alias(as: "installation") {
        id
        healthStatus
        healthReason
        createTime
        createdBy
        group {
          groupRef
          groupName
        }
        integration {
          ...integrationName_integration @relay(mask: false)
          provider
        }
        connection {
          id
          status
        }
        objects {
          objectName
          mappedObjectName
        }
        ...installedObjects_installation
        ...editFields_installation
        ...subscriptions_installation
        operations(first: 10) {
          nodes {
            id
            ...operationsList_operation
          }
        }
      }
    }
  }
`;

const DELETE_INSTALLATION = graphql`
  mutation installationPageDeleteMutation($input: DeleteInstallationInput!) {
    deleteInstallation(input: $input) {
      deletedId
    }
  }
`;

const POLL_MS = 2_000;

export default function InstallationPage({ project, id = '' }: ConsolePageProps) {
  const variables = { id };
  const { node: result } = usePageQuery<installationPageQuery>(PAGE_QUERY, variables, {
    everyMs: POLL_MS,
  });
  const node = result?.installation;
  const linkTo = useProjectLink(project);
  if (!node) return <NotFound noun="installation" />;
  const { group, integration, connection } = node;
  const operations = node.operations.nodes;
  const title = `${getIntegrationName(integration)} for ${group.groupName}`;
  return (
    <Page
      title={title}
      actions={
        <>
          <EditFields project={project} installation={node} />
          <Delete project={project} id={node.id} title={title} />
        </>
      }
      query={PAGE_QUERY}
      variables={variables}
    >
      <Panel>
        <Facts
          facts={{
            Health: <Status value={node.healthStatus} />,
            Reason: node.healthReason,
            Group: (
              <Link href={linkTo(`groups/${encodeURIComponent(group.groupRef)}`)}>
                {group.groupName}
              </Link>
            ),
            Integration: (
              <Link href={linkTo(`integrations/${encodeURIComponent(integration.name)}`)}>
                {getIntegrationName(integration)}
              </Link>
            ),
            Provider: (
              <Link href={linkTo(`providers/${integration.provider}`)}>
                <ProviderName provider={integration.provider} />
              </Link>
            ),
            Connection: (
              <Link href={linkTo(`connections/${connection.id}`)}>
                <Status value={connection.status} />
              </Link>
            ),
            Created: <Time value={node.createTime} />,
            'Created by': <Principal value={node.createdBy} />,
            ID: <Copyable value={node.id} label="ID" />,
          }}
        />
      </Panel>
      <Panel title="Reads">
        <InstalledObjects project={project} installation={node} />
      </Panel>
      <Subscriptions installation={node} linkTo={linkTo} />
      <Records id={node.id} objects={node.objects} />
      <Panel title="Contract">
        <Loaded resetKey={node.id}>
          <InstallationContract id={node.id} />
        </Loaded>
      </Panel>
      <Panel title="Operations">
        {operations.length === 0 ? (
          <Empty title="No operations yet">Use “Read now” above.</Empty>
        ) : (
          <OperationsList operations={operations} linkTo={linkTo} isOfInstallation />
        )}
      </Panel>
    </Page>
  );
}

interface DeleteProps {
  project: string;
  id: string;
  title: string;
}

function Delete({ project, id, title }: DeleteProps) {
  const linkTo = useProjectLink(project);
  return (
    <ConfirmChange<installationPageDeleteMutation>
      triggerLabel="Delete"
      title={`Delete ${title}?`}
      mutation={DELETE_INSTALLATION}
      variables={{ input: { projectIdOrName: project, installationId: id } }}
      leadsTo={linkTo('installations')}
    >
      <p>The installation's schedules and subscriptions stop. The group's connection is kept.</p>
    </ConfirmChange>
  );
}
