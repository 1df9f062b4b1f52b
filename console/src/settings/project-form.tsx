/** The names of the project. */
import { graphql, useFragment } from 'react-relay';
import { useLocation } from 'wouter';
import type { projectForm_project$key } from '../../__generated__/projectForm_project.graphql.ts';
import type { projectFormMutation } from '../../__generated__/projectFormMutation.graphql.ts';
import { ChangeForm } from '../parts/change-form.tsx';
import { type FormValues, TextInput } from '../parts/form.tsx';

const PROJECT = graphql`
  fragment projectForm_project on Project {
    id
    name
    appName
  }
`;

const UPDATE = graphql`
  mutation projectFormMutation($input: UpdateProjectInput!) {
    updateProject(input: $input) {
      project {
        name
        ...projectForm_project
      }
    }
  }
`;

export function ProjectForm({ project }: { project: projectForm_project$key }) {
  const { id, name, appName } = useFragment(PROJECT, project);
  const [, navigate] = useLocation();
  const inputOf = (values: FormValues) => {
    const next = { name: String(values.name), appName: String(values.appName) };
    return { projectIdOrName: id, ...(next.name === name ? { appName: next.appName } : next) };
  };
  return (
    <ChangeForm<projectFormMutation>
      mutation={UPDATE}
      variables={(values) => ({ input: inputOf(values) })}
      submit="Save"
      kind="primary"
      onDone={({
        updateProject: {
          project: { name: next },
        },
      }) => {
        if (next !== name) navigate(`/${encodeURIComponent(next)}/settings`);
      }}
    >
      <TextInput
        name="name"
        label="Name"
        isRequired
        defaultValue={name}
        help="Used in URLs and API calls."
      />
      <TextInput
        name="appName"
        label="Product name"
        isRequired
        defaultValue={appName}
        help="Your customers see it when they connect accounts."
      />
    </ChangeForm>
  );
}
