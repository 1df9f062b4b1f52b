/** Settings for end users: the origins of your pages, and public keys for tokens that your server signs. */
import { graphql, useFragment } from 'react-relay';
import type { endUsers_project$key } from '../../__generated__/endUsers_project.graphql.ts';
import type { endUsersCreateMutation } from '../../__generated__/endUsersCreateMutation.graphql.ts';
import type { endUsersDeleteMutation } from '../../__generated__/endUsersDeleteMutation.graphql.ts';
import type { endUsersOriginsMutation } from '../../__generated__/endUsersOriginsMutation.graphql.ts';
import type { endUsersUpdateMutation } from '../../__generated__/endUsersUpdateMutation.graphql.ts';
import { ChangeForm } from '../parts/change-form.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { TextInput } from '../parts/form.tsx';
import { Empty, Panel } from '../parts/page.tsx';
import { useChange } from '../parts/queries.ts';
import { Time } from '../parts/time.tsx';
import { KeyTable } from './key-table.tsx';

const PROJECT = graphql`
  fragment endUsers_project on Project {
    id
    allowedOrigins
    jwtKeys(first: 50) {
      nodes {
        id
        label
        algorithm
        active
        createTime
      }
    }
  }
`;

const UPDATE_PROJECT = graphql`
  mutation endUsersOriginsMutation($input: UpdateProjectInput!) {
    updateProject(input: $input) {
      project {
        id
        allowedOrigins
      }
    }
  }
`;

const CREATE_JWT_KEY = graphql`
  mutation endUsersCreateMutation($input: CreateJwtKeyInput!) {
    createJwtKey(input: $input) {
      jwtKey {
        id
      }
    }
  }
`;

const UPDATE_JWT_KEY = graphql`
  mutation endUsersUpdateMutation($input: UpdateJwtKeyInput!) {
    updateJwtKey(input: $input) {
      jwtKey {
        id
        active
      }
    }
  }
`;

const DELETE_JWT_KEY = graphql`
  mutation endUsersDeleteMutation($input: DeleteJwtKeyInput!) {
    deleteJwtKey(input: $input) {
      deletedId
    }
  }
`;

export function EndUsers({ project }: { project: endUsers_project$key }) {
  const { id, allowedOrigins, jwtKeys } = useFragment(PROJECT, project);
  return (
    <div className="grid spaced">
      <Panel title="Allowed origins">
        <Origins projectId={id} origins={allowedOrigins} />
      </Panel>
      <Panel title="JWT keys" actions={<NewJwtKey projectId={id} />}>
        <JwtKeys projectId={id} nodes={jwtKeys.nodes} />
      </Panel>
    </div>
  );
}

function Origins({ projectId, origins }: { projectId: string; origins: readonly string[] }) {
  return (
    <ChangeForm<endUsersOriginsMutation>
      mutation={UPDATE_PROJECT}
      variables={({ allowedOrigins }) => ({
        input: {
          projectIdOrName: projectId,
          allowedOrigins: String(allowedOrigins).split(/\s+/).filter(Boolean),
        },
      })}
      submitLabel="Save origins"
    >
      <TextInput
        name="allowedOrigins"
        label="Origins"
        lines={3}
        defaultValue={origins.join('\n')}
        help="One per line, such as https://app.example. Pages of these origins may send requests with end users' tokens and frame the connect page."
      />
    </ChangeForm>
  );
}

interface JwtKeyRow {
  id: string;
  label: string;
  algorithm: string;
  active: boolean;
  createTime: string;
}

function JwtKeys({ projectId, nodes }: { projectId: string; nodes: readonly JwtKeyRow[] }) {
  const update = useChange<endUsersUpdateMutation>(UPDATE_JWT_KEY);
  const remove = useChange<endUsersDeleteMutation>(DELETE_JWT_KEY);
  const projectInput = { projectIdOrName: projectId };
  if (nodes.length === 0) {
    return (
      <Empty title="No JWT keys yet">
        Add your server's public key, so that tokens it signs are accepted.
      </Empty>
    );
  }
  return (
    <KeyTable
      label="JWT keys"
      columns={['Created', 'Algorithm']}
      keys={nodes}
      update={update}
      remove={remove}
      onSwitch={(jwtKeyId, active) => update.run({ input: { ...projectInput, jwtKeyId, active } })}
      onDelete={(jwtKeyId) => remove.run({ input: { ...projectInput, jwtKeyId } })}
      deleteWarning="Tokens signed with this key are refused immediately."
    >
      {({ algorithm, createTime }) => (
        <>
          <td>
            <Time value={createTime} />
          </td>
          <td>{algorithm}</td>
        </>
      )}
    </KeyTable>
  );
}

function NewJwtKey({ projectId }: { projectId: string }) {
  return (
    <FormDialog<endUsersCreateMutation>
      triggerLabel="Add public key"
      title="Add public key"
      submitLabel="Add key"
      mutation={CREATE_JWT_KEY}
      variables={({ label, publicKeyPem }) => ({
        input: {
          projectIdOrName: projectId,
          label: String(label),
          publicKeyPem: String(publicKeyPem),
        },
      })}
    >
      <TextInput name="label" label="Label" isRequired />
      <TextInput
        name="publicKeyPem"
        label="Public key"
        lines={6}
        isRequired
        help="RSA, in PEM. Keep the private key on your server."
      />
    </FormDialog>
  );
}
