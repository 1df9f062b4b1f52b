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
      waiting: deliveries(destinationId: $destinationId, status: PENDING, createTime: $createTime) {
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

export function RetryMany({ status, ...of }: RetryManyProps) {
  const [chosen, choose] = useState<Status | null>(null);
  const wanted = chosen ?? status ?? 'FAILED';
  const options = STATUSES.map((id) => ({ id, label: wordsOf(id) }));
  const toStatus = (id: string) => choose(STATUSES.find((one) => one === id) ?? null);
  return (
    <Dialog opener="Retry deliveries" title="Retry deliveries">
      {(close) => (
        <div className="form">
          <Choice label="Deliveries" options={options} value={wanted} onChange={toStatus} />
          <p className="quiet">
            {of.createTime
              ? 'Retries deliveries of the period that the page shows.'
              : 'Retries deliveries of all times.'}{' '}
            A receiver that already accepted a message gets it again with the same webhook-id.
          </p>
          <Loaded place={wanted}>
            <Sending {...of} status={wanted} close={close} />
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
  const found = usePageQuery<retryManyQuery>(COUNTS, variables, { everyMs: POLL_MS });
  const { run, isRunning, problem } = useChange<retryManyMutation>(RETRY);
  const [count, setCount] = useState<number | null>(null);
  const waiting = found.project?.waiting.totalCount ?? 0;
  const wanted = found.project?.wanted.totalCount ?? 0;
  const send = async () => {
    // The gateway accepts no null for filters that are not set.
    const chosen = { ...(destinationId && { destinationId }), ...(createTime && { createTime }) };
    const input = { projectIdOrName: project, status, ...chosen };
    let hasMore = true;
    // Deliveries that succeed during the retry match again, so the total is capped at the first count.
    for (let all = 0; hasMore && all < wanted; ) {
      const done = await run({ input });
      if (!done) return;
      all += done.retryDeliveries.count;
      hasMore = done.retryDeliveries.hasMore;
      setCount(all);
    }
  };
  return (
    <>
      <output>
        {count === null && `${wanted.toLocaleString('en')} deliveries`}
        {count === 0 && 'No deliveries match.'}
      </output>
      {count !== null && count > 0 && (
        <Progress
          label="Retried"
          what="deliveries"
          done={Math.max(0, count - waiting)}
          total={count}
        />
      )}
      <Refusal problem={problem} />
      <div className="row end">
        <Action onPress={close}>Close</Action>
        <Action kind="primary" isPending={isRunning} isDisabled={wanted === 0} onPress={send}>
          Retry deliveries
        </Action>
      </div>
    </>
  );
}
