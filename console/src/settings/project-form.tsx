/** The names of the project. */
import { graphql, useFragment } from 'react-relay';
import { useLocation } from 'wouter';
import type { projectForm_project$key } from '../../__generated__/projectForm_project.graphql.ts';
import type { projectFormMutation } from '../../__generated__/projectFormMutation.graphql.ts';
import { Action, Form, Refusal, TextInput } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';

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
        ...projectForm_project
      }
    }
  }
`;

export function ProjectForm({ project }: { project: projectForm_project$key }) {
  const { id, name, appName } = useFragment(PROJECT, project);
  const { run, isRunning, problem } = useChange<projectFormMutation>(UPDATE);
  const [, navigate] = useLocation();
  const save = async (values: Record<string, FormDataEntryValue>) => {
    const next = { name: String(values.name), appName: String(values.appName) };
    const changed = next.name === name ? { appName: next.appName } : next;
    const done = await run({ input: { projectIdOrName: id, ...changed } });
    if (done && next.name !== name) navigate(`/${encodeURIComponent(next.name)}/settings`);
  };
  return (
    <Form problem={problem} onSubmit={save}>
      <TextInput
        name="name"
        label="Name"
        isRequired
        defaultValue={name}
        help="In addresses and calls."
      />
      <TextInput
        name="appName"
        label="Name of your product"
        isRequired
        defaultValue={appName}
        help="What your customers see when they connect."
      />
      <Refusal problem={problem} shown={['name', 'appName']} />
      <div className="row">
        <Action type="submit" kind="primary" isPending={isRunning}>
          Save
        </Action>
      </div>
    </Form>
  );
}
