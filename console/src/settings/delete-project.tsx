/** Deletes a project once the user has typed its name. */
import { graphql } from 'react-relay';
import { useLocation } from 'wouter';
import type { deleteProjectMutation } from '../../__generated__/deleteProjectMutation.graphql.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { TextInput } from '../parts/form.tsx';

const DELETE_PROJECT = graphql`
  mutation deleteProjectMutation($input: DeleteProjectInput!) {
    deleteProject(input: $input) {
      deletedId
    }
  }
`;

export function DeleteProject({ name }: { name: string }) {
  const [, navigate] = useLocation();
  return (
    <>
      <p className="quiet">
        This permanently deletes the project and everything in it, including its customers'
        connections.
      </p>
      <FormDialog<deleteProjectMutation>
        triggerLabel="Delete project"
        kind="danger"
        title={`Delete ${name}?`}
        submitLabel="Delete project"
        mutation={DELETE_PROJECT}
        variables={({ confirmName }) => ({
          input: { projectIdOrName: name, confirmName: String(confirmName) },
        })}
        onDone={() => navigate('/')}
      >
        <TextInput name="confirmName" label={`Type ${name} to confirm`} isRequired />
      </FormDialog>
    </>
  );
}
