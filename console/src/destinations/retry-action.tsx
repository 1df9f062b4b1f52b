/** Retries a delivery immediately, and polls the delivery until the attempt has ended. */
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { IEnvironment } from 'relay-runtime';
import type { retryActionMutation } from '../../__generated__/retryActionMutation.graphql.ts';
import type { retryActionQuery } from '../../__generated__/retryActionQuery.graphql.ts';
import { Action, Refusal } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';

const RETRY_DELIVERY = graphql`
  mutation retryActionMutation($input: RetryDeliveryInput!) {
    retryDelivery(input: $input) {
      delivery {
        id
        attempts {
          attemptNumber
        }
        ...retryAction_outcome
      }
    }
  }
`;

const FOLLOW = graphql`
  query retryActionQuery($id: ID!) {
    node(id: $id) {
      ... on Delivery @alias(as: "delivery") {
        attempts {
          attemptNumber
        }
        ...retryAction_outcome
      }
    }
  }
`;

/** The fields of a delivery that an attempt changes, on all pages that show the delivery. */
export const OUTCOME = graphql`
  fragment retryAction_outcome on Delivery {
    status
    nextAttemptTime
    failureReason
    attempts {
      attemptNumber
      createTime
      durationMs
      responseStatus
      responseBody
      error
    }
  }
`;

interface RetryActionProps {
  project: string;
  deliveryId: string;
  status: string;
  kind?: 'plain' | 'quiet';
}

export function RetryAction({ project, deliveryId, status, kind = 'plain' }: RetryActionProps) {
  const { run, isRunning, problem } = useChange<retryActionMutation>(RETRY_DELIVERY, {
    skipRefetch: true,
  });
  const environment = useRelayEnvironment();
  const retry = async () => {
    const result = await run({ input: { projectIdOrName: project, deliveryId } });
    if (result) {
      const { id, attempts } = result.retryDelivery.delivery;
      await follow(environment, { id, lastAttempt: attempts.at(-1)?.attemptNumber });
    }
  };
  return (
    <>
      <Action kind={kind} isPending={isRunning} onPress={retry}>
        {LABELS[status] ?? 'Retry'}
      </Action>
      <Refusal problem={problem} />
    </>
  );
}

/** The labels of the button for deliveries that were not attempted yet or have succeeded. */
const LABELS: Record<string, string> = { PENDING: 'Send now', SUCCEEDED: 'Resend' };

const POLL_MS = 500;
/** How long the delivery is polled. A longer attempt appears when the page refreshes. */
const POLLS_MAX = 40;

/**
 * Polls the delivery until it has a new attempt. The response also updates lists that no longer refresh
 * themselves.
 */
async function follow(
  environment: IEnvironment,
  { id, lastAttempt }: { id: string; lastAttempt: number | undefined },
): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const data = await fetchQuery<retryActionQuery>(environment, FOLLOW, { id })
      .toPromise()
      // After a lost connection, the polling ends. The page refreshes when the connection is back.
      .catch(() => undefined);
    if (data?.node?.delivery?.attempts.at(-1)?.attemptNumber !== lastAttempt) return;
  }
}
