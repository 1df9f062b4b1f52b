/** Triggers a read of an object: all records, or those that changed in a time range. */
import { graphql } from 'react-relay';
import type { triggerActionMutation } from '../../__generated__/triggerActionMutation.graphql.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { TextInput } from '../parts/form.tsx';

const TRIGGER_READ = graphql`
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

/** Converts the reader's local time to the API's form. */
function toApiTime(value: FormDataEntryValue | undefined): string | null {
  return value ? new Date(String(value)).toISOString() : null;
}

export function TriggerAction({ input }: TriggerProps) {
  return (
    <FormDialog<triggerActionMutation>
      triggerLabel="Read now"
      title={`Read ${input.objectName} now`}
      submitLabel="Read now"
      mutation={TRIGGER_READ}
      variables={({ sinceTime, untilTime }) => ({
        input: { ...input, sinceTime: toApiTime(sinceTime), untilTime: toApiTime(untilTime) },
      })}
    >
      <TextInput
        name="sinceTime"
        label="Changed since"
        type="datetime-local"
        help="Leave both empty to read all records."
      />
      <TextInput name="untilTime" label="Changed until" type="datetime-local" />
    </FormDialog>
  );
}
