/** Principals by the names that people know: `consumer:<id>` as the end user's name. */
import { graphql } from 'react-relay';
import type { principalQuery } from '../../__generated__/principalQuery.graphql.ts';
import { Loaded } from './page.tsx';
import { usePageQuery } from './queries.ts';

const QUERY = graphql`
  query principalQuery($id: ID!) {
    node(id: $id) {
      ... on Consumer {
        consumerName
      }
      ... on Builder {
        fullName
        primaryEmail
      }
      ... on ApiKey {
        label
      }
      ... on AgentSession {
        name
      }
    }
  }
`;

const KINDS: Record<string, string> = {
  agent: 'Agent',
  api: 'API key',
  builder: 'Builder',
  consumer: 'End user',
};

/** A principal like `agent:<session id>`, `api:<key id>`, `consumer:<id>`, `builder:<id>` or `rule:<name>`. */
export function Principal({ value }: { value: string }) {
  const separator = value.indexOf(':');
  const [kind, id] = [value.slice(0, separator), value.slice(separator + 1)];
  if (kind === 'rule') return `Rule ${id}`;
  const kindName = KINDS[kind];
  if (!kindName) return value;
  return (
    <Loaded path={value} errorFallback={value}>
      {kindName} <Name id={id} />
    </Loaded>
  );
}

/** The ID of a principal that was deleted. */
function Name({ id }: { id: string }) {
  const { node } = usePageQuery<principalQuery>(QUERY, { id });
  return (
    node?.consumerName ??
    node?.fullName ??
    node?.primaryEmail ??
    node?.label ??
    node?.name ?? <code>{id}</code>
  );
}
