/** Pauses and resumes the scheduled reads of an object. */
import { graphql } from 'react-relay';
import type { pauseActionMutation } from '../../__generated__/pauseActionMutation.graphql.ts';
import type { pauseActionResumeMutation } from '../../__generated__/pauseActionResumeMutation.graphql.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Action, Form, Refusal, TextInput } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';

const PAUSE = graphql`
  mutation pauseActionMutation($input: PauseReadsInput!) {
    pauseReads(input: $input) {
      installation {
        ...installedObjects_installation
      }
    }
  }
`;

const RESUME = graphql`
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
  const { run, isRunning, problem } = useChange<pauseActionMutation>(PAUSE);
  return (
    <Dialog opener="Pause" title={`Pause reads of ${input.objects.join()}`}>
      {(close) => (
        <Form
          problem={problem}
          onSubmit={async ({ note }) => {
            if (await run({ input: { ...input, note: String(note) || null } })) close();
          }}
        >
          <TextInput name="note" label="Note" help="Why, for those who come after you." />
          <Refusal problem={problem} shown={['note']} />
          <div className="row end">
            <Action onPress={close}>Cancel</Action>
            <Action type="submit" kind="primary" isPending={isRunning}>
              Pause
            </Action>
          </div>
        </Form>
      )}
    </Dialog>
  );
}

export function ResumeAction({ input }: PauseProps) {
  const { run, isRunning, problem } = useChange<pauseActionResumeMutation>(RESUME);
  return (
    <>
      <Action isPending={isRunning} onPress={() => run({ input })}>
        Resume
      </Action>
      <Refusal problem={problem} />
    </>
  );
}
