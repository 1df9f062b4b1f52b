/**
 * Sends one operation over HTTP. A query waits while the gateway is unreachable. A mutation is sent only
 * once.
 */
import { connectionState, GRAPHQL_URL } from './connection-state.ts';
import { type GraphqlError, Problem } from './problem.ts';

const RETRY_MS = 1_000;

export interface GraphqlOperation {
  /** The id of a persisted document. The build stores its text for the gateway. */
  documentId: string;
  variables: object;
  isMutation: boolean;
  /** If true, the failure of a nested field is thrown too. Set it if the page is useless without that field. */
  needsAll?: boolean;
}

/** relay-compiler gives each operation an ID. A missing one is a build error. */
export function getDocumentId({ id, name }: { id: string | null; name: string }): string {
  if (id === null) throw new Error(`The operation ${name} was not persisted by the build.`);
  return id;
}

export type HeaderMap = Record<string, string>;

interface GraphqlResponse {
  data?: Record<string, unknown> | null;
  errors?: GraphqlError[];
}

/** Throws a Problem if the gateway refuses the operation. */
export async function fetchGraphql(
  operation: GraphqlOperation,
  headers: HeaderMap,
): Promise<GraphqlResponse> {
  for (;;) {
    const response = await send(operation, headers);
    if (response) {
      requireNoRefusal(response, operation);
      return response;
    }
    if (operation.isMutation) {
      throw new Problem({
        message:
          'The gateway did not respond, and the change may have been made. Check before you retry.',
      });
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** Returns null if the gateway is unreachable or overloaded. */
async function send(
  { documentId, variables }: GraphqlOperation,
  headers: HeaderMap,
): Promise<GraphqlResponse | null> {
  try {
    const response = await fetch(GRAPHQL_URL, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ documentId, variables }),
    });
    const isUnavailable =
      response.status === 502 || response.status === 503 || response.status === 504;
    connectionState.setLost(isUnavailable);
    return isUnavailable ? null : ((await response.json()) as GraphqlResponse);
  } catch {
    connectionState.setLost(true);
    return null;
  }
}

/** The code of the error if another version of the gateway does not have this page's operations. */
const UNKNOWN_DOCUMENT = /^The documentId names no document/;
const OUTDATED_PAGE = new Problem({
  message: 'The gateway was updated. Reload the page.',
  extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
});

/**
 * Throws if an error makes a root field null or belongs to no field. If a nested field fails, the page shows
 * the other fields, unless it needs all of them.
 */
function requireNoRefusal(
  { data, errors = [] }: GraphqlResponse,
  { needsAll }: Pick<GraphqlOperation, 'needsAll'>,
): void {
  const refusal = errors.find(
    ({ path }) => needsAll || !data || !path || data[path[0] as string] === null,
  );
  if (refusal && UNKNOWN_DOCUMENT.test(refusal.message)) throw OUTDATED_PAGE;
  if (refusal) throw new Problem(refusal);
}
