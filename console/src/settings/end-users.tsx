/** What end users need: origins of the pages that they use, and keys with which your server signs their tokens. */
import { graphql, useFragment } from 'react-relay';
import type { endUsers_project$key } from '../../__generated__/endUsers_project.graphql.ts';
import type { endUsersCreateMutation } from '../../__generated__/endUsersCreateMutation.graphql.ts';
import type { endUsersDeleteMutation } from '../../__generated__/endUsersDeleteMutation.graphql.ts';
import type { endUsersOriginsMutation } from '../../__generated__/endUsersOriginsMutation.graphql.ts';
import type { endUsersUpdateMutation } from '../../__generated__/endUsersUpdateMutation.graphql.ts';
import { Confirm, Dialog } from '../parts/dialog.tsx';
import { Action, Form, Refusal, TextInput } from '../parts/form.tsx';
import { Empty, Panel } from '../parts/page.tsx';
import { useChange } from '../parts/queries.ts';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

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

const ORIGINS = graphql`
  mutation endUsersOriginsMutation($input: UpdateProjectInput!) {
    updateProject(input: $input) {
      project {
        id
        allowedOrigins
      }
    }
  }
`;

const CREATE = graphql`
  mutation endUsersCreateMutation($input: CreateJwtKeyInput!) {
    createJwtKey(input: $input) {
      jwtKey {
        id
      }
    }
  }
`;

const UPDATE = graphql`
  mutation endUsersUpdateMutation($input: UpdateJwtKeyInput!) {
    updateJwtKey(input: $input) {
      jwtKey {
        id
        active
      }
    }
  }
`;

const DELETE = graphql`
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
      <Panel title="Origins of your pages">
        <Origins projectId={id} origins={allowedOrigins} />
      </Panel>
      <Panel title="Keys of end users' tokens" actions={<NewJwtKey projectId={id} />}>
        <JwtKeys projectId={id} nodes={jwtKeys.nodes} />
      </Panel>
    </div>
  );
}

function Origins({ projectId, origins }: { projectId: string; origins: readonly string[] }) {
  const { run, isRunning, problem } = useChange<endUsersOriginsMutation>(ORIGINS);
  const save = ({ allowedOrigins }: Record<string, FormDataEntryValue>) => {
    const list = String(allowedOrigins).split(/\s+/).filter(Boolean);
    return run({ input: { projectIdOrName: projectId, allowedOrigins: list } });
  };
  return (
    <Form problem={problem} onSubmit={save}>
      <TextInput
        name="allowedOrigins"
        label="Origins"
        lines={3}
        defaultValue={origins.join('\n')}
        help="One a line, like https://app.example. Their pages may call with end users' tokens and frame the connect page."
      />
      <Refusal problem={problem} shown={['allowedOrigins']} />
      <div className="row">
        <Action type="submit" isPending={isRunning}>
          Save the origins
        </Action>
      </div>
    </Form>
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
  const update = useChange<endUsersUpdateMutation>(UPDATE);
  const remove = useChange<endUsersDeleteMutation>(DELETE);
  const of = { projectIdOrName: projectId };
  if (nodes.length === 0) {
    return <Empty title="No key">Your server may sign tokens itself: add its public key.</Empty>;
  }
  return (
    <>
      <Refusal problem={update.problem} />
      <Table label="JWT keys" columns={['Label', 'Algorithm', 'State', 'Made', 'Change']}>
        {nodes.map(({ id, label, algorithm, active, createTime }) => (
          <tr key={id}>
            <td className="strong">{label}</td>
            <td>{algorithm}</td>
            <td>
              <Status of={active ? 'ACTIVE' : 'DISABLED'} />
            </td>
            <td>
              <Time of={createTime} />
            </td>
            <td>
              <div className="row">
                <Action
                  onPress={() => update.run({ input: { ...of, jwtKeyId: id, active: !active } })}
                >
                  {active ? 'Deactivate' : 'Activate'}
                </Action>
                <Confirm
                  opener="Delete"
                  title={`Delete the key ${label}?`}
                  problem={remove.problem}
                  isRunning={remove.isRunning}
                  onConfirm={() => remove.run({ input: { ...of, jwtKeyId: id } })}
                >
                  <p>Tokens that it has signed are refused from then on.</p>
                </Confirm>
              </div>
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function NewJwtKey({ projectId }: { projectId: string }) {
  const { run, isRunning, problem } = useChange<endUsersCreateMutation>(CREATE);
  return (
    <Dialog opener="Add a public key" title="Add a public key">
      {(close) => (
        <Form
          problem={problem}
          onSubmit={async ({ label, publicKeyPem }) => {
            const named = { label: String(label), publicKeyPem: String(publicKeyPem) };
            if (await run({ input: { projectIdOrName: projectId, ...named } })) close();
          }}
        >
          <TextInput name="label" label="Label" isRequired />
          <TextInput
            name="publicKeyPem"
            label="Public key"
            lines={6}
            isRequired
            help="RSA, in PEM. The private half stays with you."
          />
          <Refusal problem={problem} shown={['label', 'publicKeyPem']} />
          <div className="row end">
            <Action onPress={close}>Cancel</Action>
            <Action type="submit" kind="primary" isPending={isRunning}>
              Add
            </Action>
          </div>
        </Form>
      )}
    </Dialog>
  );
}
