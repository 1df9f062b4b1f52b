/** Edits the names of the project and the appearance of its connect page. */
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
    logoUrl
    accentColor
    locale
  }
`;

const UPDATE_PROJECT = graphql`
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
  const { id, name, appName, logoUrl, accentColor, locale } = useFragment(PROJECT, project);
  const [, navigate] = useLocation();
  const createInput = (values: FormValues) => {
    const readText = (member: string) => String(values[member] ?? '').trim() || null;
    return {
      projectIdOrName: id,
      ...(values.name !== name && { name: String(values.name) }),
      appName: String(values.appName),
      logoUrl: readText('logoUrl'),
      accentColor: readText('accentColor'),
      locale: readText('locale'),
    };
  };
  return (
    <ChangeForm<projectFormMutation>
      mutation={UPDATE_PROJECT}
      variables={(values) => ({ input: createInput(values) })}
      submitLabel="Save"
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
      <TextInput
        name="logoUrl"
        label="Logo"
        type="url"
        defaultValue={logoUrl ?? ''}
        placeholder="https://"
        help="The https URL of an image for the connect page."
      />
      <TextInput
        name="accentColor"
        label="Accent color"
        defaultValue={accentColor ?? ''}
        placeholder="Default"
        help="The color of buttons and links on the connect page, like #4f46e5. It becomes darker or lighter where text would be hard to read."
      />
      <TextInput
        name="locale"
        label="Language"
        defaultValue={locale ?? ''}
        placeholder="Browser's language"
        help="The language of the connect page, like en, en-GB or de. Default: the language of the customer's browser."
      />
    </ChangeForm>
  );
}
