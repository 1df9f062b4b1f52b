/** Sends many deliveries again: those of the list's filters, and shows how many have gone out. */
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
  /** All of the project if it is left out. */
  destinationId?: string | null;
  /** What the list beside it shows: the choice begins there. */
  status: Status | null;
  createTime: { from: string | null; until: string | null } | null;
}

export function RetryMany({ status, ...of }: RetryManyProps) {
  const [chosen, choose] = useState<Status | null>(null);
  const wanted = chosen ?? status ?? 'FAILED';
  const options = STATUSES.map((id) => ({ id, label: wordsOf(id) }));
  const toStatus = (id: string) => choose(STATUSES.find((one) => one === id) ?? null);
  return (
    <Dialog opener="Send many again" title="Send many again">
      {(close) => (
        <div className="form">
          <Choice label="Deliveries" options={options} value={wanted} onChange={toStatus} />
          <p className="quiet">
            {of.createTime ? 'Those of the time that the page shows.' : 'Of all times.'} A receiver
            that has taken one gets it again, with the same webhook-id.
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
    // The gateway takes no null for what is not chosen.
    const chosen = { ...(destinationId && { destinationId }), ...(createTime && { createTime }) };
    const input = { projectIdOrName: project, status, ...chosen };
    let hasMore = true;
    // Those that are taken meanwhile are found again: no more than there were.
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
        {count === 0 && 'There was none to send.'}
      </output>
      {count !== null && count > 0 && (
        <Progress
          label="Sent again"
          what="deliveries"
          done={Math.max(0, count - waiting)}
          total={count}
        />
      )}
      <Refusal problem={problem} />
      <div className="row end">
        <Action onPress={close}>Close</Action>
        <Action kind="primary" isPending={isRunning} isDisabled={wanted === 0} onPress={send}>
          Send them again
        </Action>
      </div>
    </>
  );
}
