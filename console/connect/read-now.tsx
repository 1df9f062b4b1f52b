/** Triggers a read of the installation, if the token permits it. Otherwise only the schedule reads. */
import { graphql } from 'react-relay';
import type { readNowMutation } from '../__generated__/readNowMutation.graphql.ts';
import { Action, Refusal } from '../src/parts/form.tsx';
import { useChange } from '../src/parts/queries.ts';
import { useCustomerProblem } from './customer-problem.ts';
import { useMessages } from './messages.ts';

const TRIGGER_READ = graphql`
  mutation readNowMutation($input: TriggerReadInput!) {
    triggerRead(input: $input) {
      operation {
        id
      }
    }
  }
`;

interface ReadNowProps {
  input: {
    projectIdOrName: string;
    integrationIdOrName: string;
    groupRef: string;
    objectName: string;
  };
  label: string;
}

export function ReadNow({ input, label }: ReadNowProps) {
  const { run, isRunning, ...change } = useChange<readNowMutation>(TRIGGER_READ);
  const problem = useCustomerProblem(change.problem);
  const messages = useMessages();
  return (
    <>
      <Action
        isPending={isRunning}
        aria-label={`${messages.readNow}: ${label}`}
        onPress={() => run({ input })}
      >
        {messages.readNow}
      </Action>
      <Refusal problem={problem} />
    </>
  );
}
