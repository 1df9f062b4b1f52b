/** The project's API keys. */
import { graphql, useFragment } from 'react-relay';
import type { apiKeys_project$key } from '../../__generated__/apiKeys_project.graphql.ts';
import type { apiKeysDeleteMutation } from '../../__generated__/apiKeysDeleteMutation.graphql.ts';
import type { apiKeysUpdateMutation } from '../../__generated__/apiKeysUpdateMutation.graphql.ts';
import { Empty } from '../parts/page.tsx';
import { useChange } from '../parts/queries.ts';
import { Time } from '../parts/time.tsx';
import { KeyTable } from './key-table.tsx';
import { formatScope, omitImpliedScopes } from './scope-choice.tsx';

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

const UPDATE_API_KEY = graphql`
  mutation apiKeysUpdateMutation($input: UpdateApiKeyInput!) {
    updateApiKey(input: $input) {
      apiKey {
        id
        active
      }
    }
  }
`;

const DELETE_API_KEY = graphql`
  mutation apiKeysDeleteMutation($input: DeleteApiKeyInput!) {
    deleteApiKey(input: $input) {
      deletedId
    }
  }
`;

export function ApiKeys({
  project,
  projectIdOrName,
}: {
  project: apiKeys_project$key;
  projectIdOrName: string;
}) {
  const { nodes } = useFragment(KEYS, project).apiKeys;
  const update = useChange<apiKeysUpdateMutation>(UPDATE_API_KEY);
  const remove = useChange<apiKeysDeleteMutation>(DELETE_API_KEY);
  const projectInput = { projectIdOrName };
  if (nodes.length === 0)
    return <Empty title="No API keys yet">Create one for your backend.</Empty>;
  return (
    <KeyTable
      label="API keys"
      columns={['Last used']}
      keys={nodes}
      update={update}
      remove={remove}
      onSwitch={(apiKeyId, active) => update.run({ input: { ...projectInput, apiKeyId, active } })}
      onDelete={(apiKey) => remove.run({ input: { ...projectInput, apiKey } })}
      deleteWarning="Requests with this key are refused immediately."
      renderDetails={({ prefix, scopes }) => (
        <>
          <div className="mono">{prefix}…</div>
          <div className="quiet">{omitImpliedScopes(scopes).map(formatScope).join(', ')}</div>
        </>
      )}
    >
      {({ lastUsedTime }) => (
        <td>
          <Time value={lastUsedTime} none="never" />
        </td>
      )}
    </KeyTable>
  );
}
