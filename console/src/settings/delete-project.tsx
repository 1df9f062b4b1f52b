/** The end of a project, after its name was typed. */
import { graphql } from 'react-relay';
import { useLocation } from 'wouter';
import type { deleteProjectMutation } from '../../__generated__/deleteProjectMutation.graphql.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { type FormValues, TextInput } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';

const DELETE = graphql`
  mutation deleteProjectMutation($input: DeleteProjectInput!) {
    deleteProject(input: $input) {
      deletedId
    }
  }
`;

export function DeleteProject({ name }: { name: string }) {
  const remove = useChange<deleteProjectMutation>(DELETE);
  const [, navigate] = useLocation();
  const end = async ({ confirmName }: FormValues) => {
    const input = { projectIdOrName: name, confirmName: String(confirmName) };
    const done = await remove.run({ input });
    if (done) navigate('/');
    return done;
  };
  return (
    <>
      <p className="quiet">
        Everything of the project goes for good, with its customers' connections.
      </p>
      <FormDialog
        opener="Delete the project"
        kind="danger"
        title={`Delete ${name}?`}
        submit="Delete the project"
        change={remove}
        shown={['confirmName']}
        onSubmit={end}
      >
        <TextInput name="confirmName" label={`Type ${name} to confirm`} isRequired />
      </FormDialog>
    </>
  );
}
