/** Finished and running operations, refreshed every few seconds. */
import { graphql } from 'react-relay';
import type { operationsPage_project$data } from '../../__generated__/operationsPage_project.graphql.ts';
import type { operationsPageQuery } from '../../__generated__/operationsPageQuery.graphql.ts';
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
import { OperationsList } from './operations-list.tsx';

const PAGE_QUERY = graphql`
  query operationsPageQuery(
    $project: String!
    $status: OperationStatus
    $actionType: OperationActionType
    $integration: String
    $createTime: TimeRangeInput
  ) {
    project(idOrName: $project) {
      ...operationsPage_project
        @arguments(
          status: $status
          actionType: $actionType
          integration: $integration
          createTime: $createTime
        )
      integrations(first: 100) {
        nodes {
          ...integrationName_integration @relay(mask: false)
        }
      }
    }
  }
`;

const OPERATIONS = graphql`
  fragment operationsPage_project on Project
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
    status: { type: "OperationStatus" }
    actionType: { type: "OperationActionType" }
    integration: { type: "String" }
    createTime: { type: "TimeRangeInput" }
  )
  @refetchable(queryName: "operationsPageNextQuery") {
    operations(
      first: $count
      after: $cursor
      status: $status
      actionType: $actionType
      integrationIdOrName: $integration
      createTime: $createTime
    ) @connection(key: "operationsPage_operations") {
      totalCount
      edges {
        node {
          id
          ...operationsList_operation
        }
      }
    }
  }
`;

const STATUSES = ['IN_PROGRESS', 'SUCCEEDED', 'FAILED'] as const;
const ACTIONS = ['READ', 'WRITE', 'SUBSCRIBE'] as const;
const POLL_MS = 3_000;
const NO_OPERATIONS = (
  <Empty title="No operations">
    Trigger a read on an installation's page, or write a record with writeRecords.
  </Empty>
);

const getOperations = ({ operations }: operationsPage_project$data) => operations;

export default function OperationsPage({ project: projectIdOrName }: ConsolePageProps) {
  const status = useFilter('status', STATUSES);
  const actionType = useFilter('action', ACTIONS);
  const integration = useTextFilter('integration');
  const createTime = useTimeRange();
  const variables = { project: projectIdOrName, status, actionType, integration, createTime };
  const { project } = usePageQuery<operationsPageQuery>(PAGE_QUERY, variables, {
    everyMs: POLL_MS,
  });
  const linkTo = useProjectLink(projectIdOrName);
  if (!project) return <NotFound noun="project" />;
  return (
    <ListPage
      title="Operations"
      description="Reads and writes at providers, each with its outcome and log."
      query={PAGE_QUERY}
      variables={variables}
      filters={
        <>
          <Filter name="status" label="Status" values={STATUSES} />
          <Filter name="action" label="Action" values={ACTIONS} />
          <IntegrationFilter integrations={project.integrations.nodes} />
          <TimeFilter label="Started" />
        </>
      }
    >
      <Paged fragment={OPERATIONS} parent={project} list={getOperations} empty={NO_OPERATIONS}>
        {(operations) => <OperationsList operations={operations} linkTo={linkTo} />}
      </Paged>
    </ListPage>
  );
}
