/** The installations of the project. */
import { graphql } from 'react-relay';
import type { installationsPage_project$data } from '../../__generated__/installationsPage_project.graphql.ts';
import type { installationsPageQuery } from '../../__generated__/installationsPageQuery.graphql.ts';
import { ConnectCustomer } from '../connections/connect-customer.tsx';
import {
  Filter,
  IntegrationFilter,
  TimeFilter,
  useFilter,
  useProjectLink,
  useTextFilter,
  useTimeRange,
} from '../parts/filters.tsx';
import { Empty, ListPage, NotFound } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { usePageQuery } from '../parts/queries.ts';
import type { ConsolePageProps } from '../shell/pages.ts';
import { InstallationRows } from './installation-rows.tsx';

const PAGE_QUERY = graphql`
  query installationsPageQuery(
    $project: String!
    $integration: String
    $health: InstallationHealth
    $createTime: TimeRangeInput
  ) {
    project(idOrName: $project) {
      ...installationsPage_project 
        @arguments(integration: $integration, health: $health, createTime: $createTime)
      integrations(first: 100) {
        nodes {
          ...integrationName_integration @relay(mask: false)
        }
      }
    }
  }
`;

const INSTALLATIONS = graphql`
  fragment installationsPage_project on Project
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
    integration: { type: "String" }
    health: { type: "InstallationHealth" }
    createTime: { type: "TimeRangeInput" }
  )
  @refetchable(queryName: "installationsPageNextQuery") {
    installations(
      first: $count
      after: $cursor
      integrationIdOrName: $integration
      healthStatus: $health
      createTime: $createTime
    ) @connection(key: "installationsPage_installations") {
      totalCount
      edges {
        node {
          id
          ...installationRows_installation
        }
      }
    }
  }
`;

const HEALTH_STATUSES = ['HEALTHY', 'UNHEALTHY'] as const;
const POLL_MS = 10_000;
const NO_INSTALLATIONS = (
  <Empty title="No installations yet">
    Use “Connect customer”, or call createInstallation from your backend.
  </Empty>
);

const getInstallations = ({ installations }: installationsPage_project$data) => installations;

export default function InstallationsPage({ project: projectIdOrName }: ConsolePageProps) {
  const integration = useTextFilter('integration');
  const createTime = useTimeRange();
  const health = useFilter('health', HEALTH_STATUSES);
  const variables = { project: projectIdOrName, integration, health, createTime };
  const { project } = usePageQuery<installationsPageQuery>(PAGE_QUERY, variables, {
    everyMs: POLL_MS,
  });
  const linkTo = useProjectLink(projectIdOrName);
  if (!project) return <NotFound noun="project" />;
  return (
    <ListPage
      title="Installations"
      description="Integrations that your customers have installed, and their health."
      actions={<ConnectCustomer project={projectIdOrName} />}
      query={PAGE_QUERY}
      variables={variables}
      filters={
        <>
          <IntegrationFilter integrations={project.integrations.nodes} />
          <Filter name="health" label="Health" values={HEALTH_STATUSES} />
          <TimeFilter />
        </>
      }
    >
      <Paged
        fragment={INSTALLATIONS}
        parent={project}
        list={getInstallations}
        empty={NO_INSTALLATIONS}
      >
        {(installations) => <InstallationRows installations={installations} linkTo={linkTo} />}
      </Paged>
    </ListPage>
  );
}
