/** The project's API keys. A key is shown once, when it is made. */
import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { apiKeys_project$key } from '../../__generated__/apiKeys_project.graphql.ts';
import type { apiKeysCreateMutation } from '../../__generated__/apiKeysCreateMutation.graphql.ts';
import type { apiKeysDeleteMutation } from '../../__generated__/apiKeysDeleteMutation.graphql.ts';
import type { apiKeysUpdateMutation } from '../../__generated__/apiKeysUpdateMutation.graphql.ts';
import { Confirm, Dialog, Secret } from '../parts/dialog.tsx';
import { Action, CheckBox, Form, Refusal, TextInput } from '../parts/form.tsx';
import { Empty } from '../parts/page.tsx';
import { useChange } from '../parts/queries.ts';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { SCOPES } from './scopes.ts';

const KEYS = graphql`
  fragment apiKeys_project on Project {
    apiKeys(first: 100) {
      nodes {
        id
        label
        prefix
        scopes
        active
        createTime
        lastUsedTime
      }
    }
  }
`;

const CREATE = graphql`
  mutation apiKeysCreateMutation($input: CreateApiKeyInput!) {
    createApiKey(input: $input) {
      key
    }
  }
`;

const UPDATE = graphql`
  mutation apiKeysUpdateMutation($input: UpdateApiKeyInput!) {
    updateApiKey(input: $input) {
      apiKey {
        id
        active
      }
    }
  }
`;

const DELETE = graphql`
  mutation apiKeysDeleteMutation($input: DeleteApiKeyInput!) {
    deleteApiKey(input: $input) {
      deletedId
    }
  }
`;

const COLUMNS = ['Label', 'Begins with', 'State', 'Scopes', 'Last used', 'Change'];

export function ApiKeys({ project, idOrName }: { project: apiKeys_project$key; idOrName: string }) {
  const { nodes } = useFragment(KEYS, project).apiKeys;
  const update = useChange<apiKeysUpdateMutation>(UPDATE);
  const remove = useChange<apiKeysDeleteMutation>(DELETE);
  const of = { projectIdOrName: idOrName };
  if (nodes.length === 0) return <Empty title="No key yet">Your backend needs one.</Empty>;
  return (
    <>
      <Refusal problem={update.problem} />
      <Table label="API keys" columns={COLUMNS}>
        {nodes.map(({ id, label, prefix, scopes, active, lastUsedTime }) => (
          <tr key={id}>
            <td className="strong">{label}</td>
            <td className="mono">{prefix}…</td>
            <td>
              <Status of={active ? 'ACTIVE' : 'DISABLED'} />
            </td>
            <td className="outcome">{scopes.join(', ')}</td>
            <td>
              <Time of={lastUsedTime} none="never" />
            </td>
            <td>
              <div className="row">
                <Action
                  onPress={() => update.run({ input: { ...of, apiKeyId: id, active: !active } })}
                >
                  {active ? 'Deactivate' : 'Activate'}
                </Action>
                <Confirm
                  opener="Delete"
                  title={`Delete the key ${label}?`}
                  problem={remove.problem}
                  isRunning={remove.isRunning}
                  onConfirm={() => remove.run({ input: { ...of, apiKey: id } })}
                >
                  <p>Requests with it are refused from then on.</p>
                </Confirm>
              </div>
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

export function NewApiKey({ project }: { project: string }) {
  const { run, isRunning, problem } = useChange<apiKeysCreateMutation>(CREATE);
  const [key, setKey] = useState<string | null>(null);
  const create = async (values: Record<string, FormDataEntryValue>) => {
    const scopes = SCOPES.filter((scope) => values[`scope/${scope}`]);
    const input = { projectIdOrName: project, label: String(values.label), scopes };
    const made = await run({ input });
    setKey(made?.createApiKey.key ?? null);
  };
  return (
    <Dialog opener="New key" kind="primary" title="New API key">
      {(close) =>
        key ? (
          <>
            <p>Copy it now: it is not shown again.</p>
            <Secret value={key} label="The key" />
            <div className="row end">
              <Action kind="primary" onPress={() => [setKey(null), close()]}>
                Done
              </Action>
            </div>
          </>
        ) : (
          <Form problem={problem} onSubmit={create}>
            <TextInput name="label" label="Label" isRequired help="What uses it." />
            <fieldset className="fields">
              <legend className="strong">Scopes</legend>
              <div className="checks">
                {SCOPES.map((scope) => (
                  <CheckBox
                    key={scope}
                    name={`scope/${scope}`}
                    label={scope}
                    isOn={scope === 'read'}
                  />
                ))}
              </div>
            </fieldset>
            <Refusal problem={problem} shown={['label']} />
            <div className="row end">
              <Action onPress={close}>Cancel</Action>
              <Action type="submit" kind="primary" isPending={isRunning}>
                Make it
              </Action>
            </div>
          </Form>
        )
      }
    </Dialog>
  );
}
