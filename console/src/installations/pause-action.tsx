/** Pauses and resumes the scheduled reads of an object. */
import { graphql } from 'react-relay';
import type { pauseActionMutation } from '../../__generated__/pauseActionMutation.graphql.ts';
import type { pauseActionResumeMutation } from '../../__generated__/pauseActionResumeMutation.graphql.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { Action, Refusal, TextInput } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';

const PAUSE_READS = graphql`
  mutation pauseActionMutation($input: PauseReadsInput!) {
    pauseReads(input: $input) {
      installation {
        ...installedObjects_installation
      }
    }
  }
`;

const RESUME_READS = graphql`
  mutation pauseActionResumeMutation($input: ResumeReadsInput!) {
    resumeReads(input: $input) {
      installation {
        ...installedObjects_installation
      }
    }
  }
`;

interface PauseProps {
  input: { projectIdOrName: string; installationId: string; objects: string[] };
}

export function PauseAction({ input }: PauseProps) {
  return (
    <FormDialog<pauseActionMutation>
      triggerLabel="Pause"
      title={`Pause reads of ${input.objects.join(', ')}`}
      submitLabel="Pause"
      mutation={PAUSE_READS}
      variables={({ note }) => ({ input: { ...input, note: String(note) || null } })}
    >
      <TextInput
        name="note"
        label="Note"
        help="Optional. Explains to your team why the reads are paused."
      />
    </FormDialog>
  );
}

export function ResumeAction({ input }: PauseProps) {
  const { run, isRunning, problem } = useChange<pauseActionResumeMutation>(RESUME_READS);
  return (
    <>
      <Action isPending={isRunning} onPress={() => run({ input })}>
        Resume
      </Action>
      <Refusal problem={problem} />
    </>
  );
}
