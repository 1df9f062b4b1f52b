/** Retries many deliveries, those that match the list's filters, and shows the progress. */
import { useState } from 'react';
import { graphql } from 'react-relay';
import type { retryManyMutation } from '../../__generated__/retryManyMutation.graphql.ts';
import type { retryManyQuery } from '../../__generated__/retryManyQuery.graphql.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Action, Choice, Refusal } from '../parts/form.tsx';
import { Loaded } from '../parts/page.tsx';
import { useChange, usePageQuery } from '../parts/queries.ts';
import { wordsOf } from '../parts/status.tsx';
import { Progress } from '../parts/table.tsx';
import { STATUSES, type Status } from './statuses.ts';

const RETRY = graphql`
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
    $status: DeliveryStatus!
    $createTime: TimeRangeInput
  ) {
    project(idOrName: $project) {
      wanted: deliveries(destinationId: $destinationId, status: $status, createTime: $createTime) {
        totalCount
      }
      pending: deliveries(destinationId: $destinationId, status: PENDING, createTime: $createTime) {
        totalCount
      }
      retrying: deliveries(
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
  /** The whole project if omitted. */
  destinationId?: string | null;
  /** The filter of the list on the page, which preselects the choice. */
  status: Status | null;
  createTime: { from: string | null; until: string | null } | null;
}

export function RetryMany({ status, ...scope }: RetryManyProps) {
  const [chosen, choose] = useState<Status | null>(null);
  const selectedStatus = chosen ?? status ?? 'FAILED';
  const options = STATUSES.map((id) => ({ id, label: wordsOf(id) }));
  const toStatus = (id: string) => choose(STATUSES.find((candidate) => candidate === id) ?? null);
  return (
    <Dialog opener="Retry deliveries" title="Retry deliveries">
      {(close) => (
        <div className="form">
          <Choice label="Deliveries" options={options} value={selectedStatus} onChange={toStatus} />
          <p className="quiet">
            {scope.createTime
              ? 'Retries deliveries of the period that the page shows.'
              : 'Retries deliveries of all times.'}{' '}
            A receiver that already accepted a message gets it again with the same webhook-id.
          </p>
          <Loaded path={selectedStatus}>
            <Sending {...scope} status={selectedStatus} close={close} />
          </Loaded>
        </div>
      )}
    </Dialog>
  );
}

interface SendingProps extends Omit<RetryManyProps, 'status'> {
  status: Status;
  close: () => void;
}

const POLL_MS = 1_000;

function Sending({ project, destinationId = null, status, createTime, close }: SendingProps) {
  const variables = { project, destinationId, status, createTime };
  const data = usePageQuery<retryManyQuery>(COUNTS, variables, { everyMs: POLL_MS });
  const { run, isRunning, problem } = useChange<retryManyMutation>(RETRY);
  const [count, setCount] = useState<number | null>(null);
  const { pending, retrying } = data.project ?? {};
  const waiting = (pending?.totalCount ?? 0) + (retrying?.totalCount ?? 0);
  const matching = data.project?.wanted.totalCount ?? 0;
  const send = async () => {
    // The gateway accepts no null for filters that are not set.
    const chosen = { ...(destinationId && { destinationId }), ...(createTime && { createTime }) };
    const input = { projectIdOrName: project, statuses: [status], ...chosen };
    let hasMore = true;
    // Deliveries that succeed during the retry match again, so the total is capped at the first count.
    for (let retried = 0; hasMore && retried < matching; ) {
      const response = await run({ input });
      if (!response) return;
      retried += response.retryDeliveries.count;
      hasMore = response.retryDeliveries.hasMore;
      setCount(retried);
    }
  };
  return (
    <>
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
        <Action kind="primary" isPending={isRunning} isDisabled={matching === 0} onPress={send}>
          Retry deliveries
        </Action>
      </div>
    </>
  );
}
