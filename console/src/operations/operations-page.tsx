/** What was read and written, and what is being: looked at again every few seconds. */
import { graphql, usePaginationFragment } from 'react-relay';
import type { operationsPage_project$key } from '../../__generated__/operationsPage_project.graphql.ts';
import type { operationsPageNextQuery } from '../../__generated__/operationsPageNextQuery.graphql.ts';
import type { operationsPageQuery } from '../../__generated__/operationsPageQuery.graphql.ts';
import { Filter, useAddress, useFilter } from '../parts/filters.tsx';
import { Empty, Missing, Page } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { More } from '../parts/table.tsx';
import type { PageProps } from '../shell/places.ts';
import { OperationsList } from './operations-list.tsx';

const QUERY = graphql`
  query operationsPageQuery(
    $project: String!
    $status: OperationStatus
    $actionType: OperationActionType
  ) {
    project(idOrName: $project) {
      ...operationsPage_project @arguments(status: $status, actionType: $actionType)
    }
  }
`;

const LIST = graphql`
  fragment operationsPage_project on Project
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
    status: { type: "OperationStatus" }
    actionType: { type: "OperationActionType" }
  )
  @refetchable(queryName: "operationsPageNextQuery") {
    operations(first: $count, after: $cursor, status: $status, actionType: $actionType)
      @connection(key: "operationsPage_operations") {
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

const STATUSES = ['IN_PROGRESS', 'SUCCESS', 'FAILURE'] as const;
const ACTIONS = ['READ', 'WRITE', 'SUBSCRIBE'] as const;
const LOOK_MS = 3_000;

export default function OperationsPage({ project: idOrName }: PageProps) {
  const [status, setStatus] = useFilter('status', STATUSES);
  const [actionType, setAction] = useFilter('action', ACTIONS);
  const variables = { project: idOrName, status, actionType };
  const { project } = usePageQuery<operationsPageQuery>(QUERY, variables, { everyMs: LOOK_MS });
  const address = useAddress(idOrName);
  if (!project) return <Missing what="project" />;
  return (
    <Page
      title="Operations"
      about="Each is one piece of work at a provider, with its outcome and its log."
      query={QUERY}
      variables={variables}
    >
      <div className="filters">
        <Filter label="Status" values={STATUSES} value={status} onChange={setStatus} />
        <Filter label="Action" values={ACTIONS} value={actionType} onChange={setAction} />
      </div>
      <section className="card">
        <List project={project} address={address} />
      </section>
    </Page>
  );
}

interface ListProps {
  project: operationsPage_project$key;
  address: (path: string) => string;
}

function List({ project, address }: ListProps) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    operationsPageNextQuery,
    operationsPage_project$key
  >(LIST, project);
  const { edges, totalCount } = data.operations;
  if (edges.length === 0) {
    return (
      <Empty title="No operation">
        Trigger a read on an installation's page, or write a record with writeRecords.
      </Empty>
    );
  }
  return (
    <>
      <OperationsList operations={edges.map(({ node }) => node)} address={address} />
      <More
        shown={edges.length}
        total={totalCount}
        hasNext={hasNext}
        isLoading={isLoadingNext}
        loadNext={loadNext}
      />
    </>
  );
}
