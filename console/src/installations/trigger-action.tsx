/** Reads an object now, all of it or what changed in a range of time. */
import { graphql } from 'react-relay';
import type { triggerActionMutation } from '../../__generated__/triggerActionMutation.graphql.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Action, Form, Refusal, TextInput } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';

const TRIGGER = graphql`
  mutation triggerActionMutation($input: TriggerReadInput!) {
    triggerRead(input: $input) {
      operation {
        id
        status
      }
    }
  }
`;

interface TriggerProps {
  input: {
    projectIdOrName: string;
    integrationIdOrName: string;
    groupRef: string;
    objectName: string;
  };
}

/** The reader's own time as the API has times. */
function timeOf(value: FormDataEntryValue | undefined): string | null {
  return value ? new Date(String(value)).toISOString() : null;
}

export function TriggerAction({ input }: TriggerProps) {
  const { run, isRunning, problem } = useChange<triggerActionMutation>(TRIGGER);
  return (
    <Dialog opener="Read now" title={`Read ${input.objectName} now`}>
      {(close) => (
        <Form
          problem={problem}
          onSubmit={async ({ sinceTimestamp, untilTimestamp }) => {
            const range = {
              sinceTimestamp: timeOf(sinceTimestamp),
              untilTimestamp: timeOf(untilTimestamp),
            };
            if (await run({ input: { ...input, ...range } })) close();
          }}
        >
          <TextInput
            name="sinceTimestamp"
            label="Changed since"
            type="datetime-local"
            help="Leave both empty to read all records."
          />
          <TextInput name="untilTimestamp" label="Changed until" type="datetime-local" />
          <Refusal problem={problem} shown={['sinceTimestamp', 'untilTimestamp']} />
          <div className="row end">
            <Action onPress={close}>Cancel</Action>
            <Action type="submit" kind="primary" isPending={isRunning}>
              Read
            </Action>
          </div>
        </Form>
      )}
    </Dialog>
  );
}
