/** The end of a project, after its name was typed. */
import { graphql } from 'react-relay';
import { useLocation } from 'wouter';
import type { deleteProjectMutation } from '../../__generated__/deleteProjectMutation.graphql.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Action, Form, Refusal, TextInput } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';

const DELETE = graphql`
  mutation deleteProjectMutation($input: DeleteProjectInput!) {
    deleteProject(input: $input) {
      deletedId
    }
  }
`;

export function DeleteProject({ name }: { name: string }) {
  const { run, isRunning, problem } = useChange<deleteProjectMutation>(DELETE);
  const [, navigate] = useLocation();
  return (
    <>
      <p className="quiet">
        Everything of the project goes for good, with its customers' connections.
      </p>
      <Dialog opener="Delete the project" kind="danger" title={`Delete ${name}?`}>
        {(close) => (
          <Form
            problem={problem}
            onSubmit={async ({ confirmName }) => {
              const input = { projectIdOrName: name, confirmName: String(confirmName) };
              if (await run({ input })) navigate('/');
            }}
          >
            <TextInput name="confirmName" label={`Type ${name} to confirm`} isRequired />
            <Refusal problem={problem} shown={['confirmName']} />
            <div className="row end">
              <Action onPress={close}>Cancel</Action>
              <Action type="submit" kind="danger" isPending={isRunning}>
                Delete the project
              </Action>
            </div>
          </Form>
        )}
      </Dialog>
    </>
  );
}
