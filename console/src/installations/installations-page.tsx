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

const QUERY = graphql`
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

const LIST = graphql`
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

const HEALTH = ['HEALTHY', 'UNHEALTHY'] as const;
const POLL_MS = 10_000;
const EMPTY = (
  <Empty title="No installations yet">
    Use “Connect customer”, or call createInstallation from your backend.
  </Empty>
);

const getList = ({ installations }: installationsPage_project$data) => installations;

export default function InstallationsPage({ project: idOrName }: ConsolePageProps) {
  const integration = useTextFilter('integration');
  const createTime = useTimeRange();
  const health = useFilter('health', HEALTH);
  const variables = { project: idOrName, integration, health, createTime };
  const { project } = usePageQuery<installationsPageQuery>(QUERY, variables, { everyMs: POLL_MS });
  const linkTo = useProjectLink(idOrName);
  if (!project) return <NotFound noun="project" />;
  return (
    <ListPage
      title="Installations"
      description="Integrations that your customers have installed, and their health."
      actions={<ConnectCustomer project={idOrName} />}
      query={QUERY}
      variables={variables}
      filters={
        <>
          <IntegrationFilter integrations={project.integrations.nodes} />
          <Filter name="health" label="Health" values={HEALTH} />
          <TimeFilter />
        </>
      }
    >
      <Paged fragment={LIST} parent={project} list={getList} empty={EMPTY}>
        {(installations) => <InstallationRows installations={installations} linkTo={linkTo} />}
      </Paged>
    </ListPage>
  );
}
