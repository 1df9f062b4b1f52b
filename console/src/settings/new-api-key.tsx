/** Creates an API key, and shows its value once. */
import { graphql, useFragment } from 'react-relay';
import type { newApiKey_project$key } from '../../__generated__/newApiKey_project.graphql.ts';
import type { newApiKeyMutation } from '../../__generated__/newApiKeyMutation.graphql.ts';
import { CopyableValue, FormDialog } from '../parts/dialog.tsx';
import { TextInput } from '../parts/form.tsx';
import { type PresetId, readScopes, ScopeChoice } from './scope-choice.tsx';

const PROJECT = graphql`
  fragment newApiKey_project on Project {
    org {
      viewerRole
    }
  }
`;

const CREATE_API_KEY = graphql`
  mutation newApiKeyMutation($input: CreateApiKeyInput!) {
    createApiKey(input: $input) {
      key
    }
  }
`;

interface NewApiKeyProps {
  project: newApiKey_project$key;
  projectIdOrName: string;
  /** The preset that is selected when the form opens. */
  preset?: PresetId;
  kind?: 'primary' | 'plain';
}

export function NewApiKey({ project: projectKey, projectIdOrName, preset, kind }: NewApiKeyProps) {
  const { org } = useFragment(PROJECT, projectKey);
  return (
    <FormDialog<newApiKeyMutation>
      triggerLabel="Create key"
      {...(kind && { kind })}
      title="Create API key"
      submitLabel="Create key"
      mutation={CREATE_API_KEY}
      variables={(values) => ({
        input: {
          projectIdOrName,
          label: String(values.label),
          scopes: readScopes(values),
        },
      })}
      renderResult={({ createApiKey: { key } }) => (
        <CopyableValue
          explanation="Copy it now. It is not shown again."
          value={key}
          label="API key"
        />
      )}
    >
      <TextInput name="label" label="Label" isRequired help="Where the key is used." />
      <ScopeChoice preset={preset} isForMember={org?.viewerRole === 'MEMBER'} />
    </FormDialog>
  );
}
