/** Shows principals by names that people know, for example `consumer:<id>` as the end user's name. */
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

/** The word before the name. A builder has none, because the name of a colleague is enough. */
const PREFIXES: Record<string, string> = {
  agent: 'Agent ',
  api: 'API key ',
  builder: '',
  consumer: 'End user ',
};

/** A principal like `agent:<session id>`, `api:<key id>`, `consumer:<id>`, `builder:<id>` or `rule:<name>`. */
export function Principal({ value }: { value: string }) {
  const separator = value.indexOf(':');
  const [kind, id] = [value.slice(0, separator), value.slice(separator + 1)];
  if (kind === 'rule') return `Rule ${id}`;
  const prefix = PREFIXES[kind];
  if (prefix === undefined) return value;
  return (
    <Loaded resetKey={value} errorFallback={value}>
      {prefix}
      <Name id={id} />
    </Loaded>
  );
}

/** Shows the id of a deleted principal. */
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
