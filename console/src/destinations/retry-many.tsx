/** Retries the deliveries that match the list's filters, and shows the progress. */
import { useState } from 'react';
import { graphql } from 'react-relay';
import type { retryManyMutation } from '../../__generated__/retryManyMutation.graphql.ts';
import type { retryManyQuery } from '../../__generated__/retryManyQuery.graphql.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Action, Choice, Refusal } from '../parts/form.tsx';
import { Loaded } from '../parts/page.tsx';
import { useChange, usePageQuery } from '../parts/queries.ts';
import { formatWords } from '../parts/status.tsx';
import { Progress } from '../parts/table.tsx';
import type { DeliveryStatus } from './delivery-statuses.ts';

const RETRY_DELIVERIES = graphql`
  mutation retryManyMutation($input: RetryDeliveriesInput!) {
    retryDeliveries(input: $input) {
      count
      hasMore
    }
  }
`;

const COUNTS = graphql`
  query retryManyQuery(
    $project: String!
    $destinationId: ID
    $createTime: TimeRangeInput
    $countsSucceeded: Boolean!
  ) {
    project(idOrName: $project) {
      failed: retryableDeliveryCount(
        destinationId: $destinationId
        statuses: [FAILED]
        createTime: $createTime
      )
      retrying: retryableDeliveryCount(
        destinationId: $destinationId
        statuses: [RETRYING]
        createTime: $createTime
      )
      pending: retryableDeliveryCount(
        destinationId: $destinationId
        statuses: [PENDING]
        createTime: $createTime
      )
      succeeded: retryableDeliveryCount(
        destinationId: $destinationId
        statuses: [SUCCEEDED]
        createTime: $createTime
      ) @include(if: $countsSucceeded)
      pendingDeliveries: deliveries(destinationId: $destinationId, status: PENDING, createTime: $createTime) {
        totalCount
      }
      retryingDeliveries: deliveries(
        destinationId: $destinationId
        status: RETRYING
        createTime: $createTime
      ) {
        totalCount
      }
    }
  }
`;

interface RetryManyProps {
  project: string;
  /** The destination whose deliveries are retried. Default: all destinations of the project. */
  destinationId?: string | null;
  /** The status filter of the list, which preselects the choice. */
  status: DeliveryStatus | null;
  createTime: { from: string | null; until: string | null } | null;
}

export function RetryMany(props: RetryManyProps) {
  return (
    <Dialog triggerLabel="Retry deliveries" title="Retry deliveries">
      {(close) => (
        <Loaded resetKey="retries">
          <RetryForm {...props} close={close} />
        </Loaded>
      )}
    </Dialog>
  );
}

/**
 * Statuses that need a retry, the most urgent status first. The first status that has deliveries is
 * preselected.
 */
const PRESELECTED_STATUSES = ['FAILED', 'RETRYING', 'PENDING'] as const satisfies DeliveryStatus[];
const STATUS_OPTIONS = [...PRESELECTED_STATUSES, 'SUCCEEDED'] as const satisfies DeliveryStatus[];

const POLL_MS = 1_000;

function RetryForm({
  project,
  destinationId = null,
  status: shownStatus,
  createTime,
  close,
}: RetryManyProps & { close: () => void }) {
  const [chosen, setChosen] = useState<DeliveryStatus | null>(null);
  // Succeeded deliveries are not counted, because counting them takes long in a large project.
  const countsSucceeded = (chosen ?? shownStatus) === 'SUCCEEDED';
  const variables = { project, destinationId, createTime, countsSucceeded };
  const data = usePageQuery<retryManyQuery>(COUNTS, variables, {
    everyMs: POLL_MS,
    needsAll: true,
  });
  const { run, isRunning, problem } = useChange<retryManyMutation>(RETRY_DELIVERIES);
  const counts = toCounts(data.project);
  const [firstCounts] = useState(counts);
  const [count, setCount] = useState<number | null>(null);
  const urgent = PRESELECTED_STATUSES.find((id) => firstCounts[id] > 0);
  const status = chosen ?? shownStatus ?? urgent ?? 'FAILED';
  const matching = counts[status];
  const waiting =
    (data.project?.pendingDeliveries.totalCount ?? 0) +
    (data.project?.retryingDeliveries.totalCount ?? 0);
  const retry = async () => {
    // The gateway refuses null for a filter that is not set.
    const scope = { ...(destinationId && { destinationId }), ...(createTime && { createTime }) };
    const input = { projectIdOrName: project, statuses: [status], ...scope };
    let hasMore = true;
    // Deliveries that succeed during the retry match the filter again, so the progress is capped at the first
    // count.
    for (let retried = 0; hasMore && retried < matching; ) {
      const response = await run({ input });
      if (!response) return;
      retried += response.retryDeliveries.count;
      hasMore = response.retryDeliveries.hasMore;
      setCount(retried);
    }
  };
  const selectStatus = (id: string) => {
    setChosen(STATUS_OPTIONS.find((candidate) => candidate === id) ?? null);
    setCount(null);
  };
  return (
    <div className="form">
      <Choice
        label="Deliveries"
        options={STATUS_OPTIONS.map((id) => ({
          id,
          label: `${formatWords(id)}${id === 'SUCCEEDED' ? '' : ` (${counts[id].toLocaleString('en')})`}`,
        }))}
        value={status}
        onChange={selectStatus}
      />
      <p className="quiet">
        {createTime
          ? 'Only deliveries of the period that the page shows are retried.'
          : 'Deliveries of any age are retried.'}{' '}
        A receiver that already accepted a message gets it again with the same webhook-id.
      </p>
      <output>
        {count === null && `${matching.toLocaleString('en')} deliveries`}
        {count === 0 && 'No deliveries match.'}
      </output>
      {count !== null && count > 0 && (
        <Progress
          label="Retried"
          unit="deliveries"
          completed={Math.max(0, count - waiting)}
          total={count}
        />
      )}
      <Refusal problem={problem} />
      <div className="row end">
        <Action onPress={close}>Close</Action>
        <Action kind="primary" isPending={isRunning} isDisabled={matching === 0} onPress={retry}>
          {status === 'SUCCEEDED' ? 'Resend deliveries' : 'Retry deliveries'}
        </Action>
      </div>
    </div>
  );
}

/** Counts the deliveries that a retry would send now, by status. */
function toCounts(project: retryManyQuery['response']['project']): Record<DeliveryStatus, number> {
  return {
    FAILED: project?.failed ?? 0,
    RETRYING: project?.retrying ?? 0,
    PENDING: project?.pending ?? 0,
    SUCCEEDED: project?.succeeded ?? 0,
  };
}
