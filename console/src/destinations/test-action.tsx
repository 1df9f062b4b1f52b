/** Sends a test message and opens its delivery. */
import { graphql } from 'react-relay';
import { useLocation } from 'wouter';
import type { testActionMutation } from '../../__generated__/testActionMutation.graphql.ts';
import { useProjectLink } from '../parts/filters.tsx';
import { Action, Refusal } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';

const SEND_TEST_MESSAGE = graphql`
  mutation testActionMutation($input: SendTestMessageInput!) {
    sendTestMessage(input: $input) {
      delivery {
        id
      }
    }
  }
`;

export function TestAction({ project, destinationId }: { project: string; destinationId: string }) {
  const { run, isRunning, problem } = useChange<testActionMutation>(SEND_TEST_MESSAGE);
  const [, navigate] = useLocation();
  const linkTo = useProjectLink(project);
  const send = async () => {
    const result = await run({ input: { projectIdOrName: project, destinationId } });
    if (result) navigate(linkTo(`deliveries/${result.sendTestMessage.delivery.id}`));
  };
  return (
    <>
      <Action isPending={isRunning} onPress={send}>
        Send test message
      </Action>
      <Refusal problem={problem} />
    </>
  );
}
