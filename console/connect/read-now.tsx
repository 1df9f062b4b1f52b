/** Triggers a read of the installation, if the token permits it. Otherwise only the schedule reads. */
import { graphql } from 'react-relay';
import type { readNowMutation } from '../__generated__/readNowMutation.graphql.ts';
import { Action, Refusal } from '../src/parts/form.tsx';
import { useChange } from '../src/parts/queries.ts';
import { useCustomerProblem } from './customer-problem.ts';

const TRIGGER = graphql`
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
  const { run, isRunning, ...change } = useChange<readNowMutation>(TRIGGER);
  const problem = useCustomerProblem(change.problem);
  return (
    <>
      <Action
        isPending={isRunning}
        aria-label={`Read now: ${label}`}
        onPress={() => run({ input })}
      >
        Read now
      </Action>
      <Refusal problem={problem} />
    </>
  );
}
