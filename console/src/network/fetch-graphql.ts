/** One operation over HTTP. Queries wait for a gateway that is away; mutations are sent once. */
import { connectionState, GRAPHQL_URL } from './connection-state.ts';
import { type GraphqlError, Problem } from './problem.ts';

const RETRY_MS = 1_000;

export interface Operation {
  /** Its document is one that the gateway knows by this id: the build has written both. */
  documentId: string;
  variables: object;
  isMutation: boolean;
}

/** relay-compiler gives each operation one: where there is none, the build is at fault. */
export function idOf({ id, name }: { id: string | null; name: string }): string {
  if (id === null) throw new Error(`The operation ${name} was not persisted by the build.`);
  return id;
}

export type Headers = Record<string, string>;

interface Answer {
  data?: Record<string, unknown> | null;
  errors?: GraphqlError[];
}

/** Throws a Problem if the gateway refuses it: what a page is about is not there then. */
export async function fetchGraphql(operation: Operation, headers: Headers): Promise<Answer> {
  for (;;) {
    const answer = await send(operation, headers);
    if (answer) return withoutRefusals(answer);
    if (operation.isMutation) {
      throw new Problem({
        message: 'The gateway did not answer. It may have done it: look before you try again.',
      });
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** Null if the gateway is away, or has no room at the moment. */
async function send(
  { documentId, variables }: Operation,
  headers: Headers,
): Promise<Answer | null> {
  try {
    const response = await fetch(GRAPHQL_URL, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ documentId, variables }),
    });
    const isAway = response.status === 502 || response.status === 503 || response.status === 504;
    connectionState.set(isAway);
    return isAway ? null : ((await response.json()) as Answer);
  } catch {
    connectionState.set(true);
    return null;
  }
}

/** What a gateway of another version says of this page's operations. */
const UNKNOWN_DOCUMENT = /^The documentId names no document/;
const IS_OLD = new Problem({
  message: 'The gateway has another version than this page. Load the page again.',
  extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
});

/** An error below a member that is there leaves that one null: its place says so. */
function withoutRefusals(answer: Answer): Answer {
  const { data, errors = [] } = answer;
  const refusal = errors.find(({ path }) => !data || !path || data[path[0] as string] === null);
  if (refusal && UNKNOWN_DOCUMENT.test(refusal.message)) throw IS_OLD;
  if (refusal) throw new Problem(refusal);
  return answer;
}
