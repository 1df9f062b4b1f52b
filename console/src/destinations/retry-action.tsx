/** Retries a delivery. */
import { graphql } from 'react-relay';
import type { retryActionMutation } from '../../__generated__/retryActionMutation.graphql.ts';
import { Action, Refusal } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';

const RETRY = graphql`
  mutation retryActionMutation($input: RetryDeliveryInput!) {
    retryDelivery(input: $input) {
      delivery {
        id
        status
        nextAttemptTime
      }
    }
  }
`;

export function RetryAction({ project, deliveryId }: { project: string; deliveryId: string }) {
  const { run, isRunning, problem } = useChange<retryActionMutation>(RETRY, { tellsAll: true });
  return (
    <>
      <Action
        isPending={isRunning}
        onPress={() => run({ input: { projectIdOrName: project, deliveryId } })}
      >
        Retry
      </Action>
      <Refusal problem={problem} />
    </>
  );
}
