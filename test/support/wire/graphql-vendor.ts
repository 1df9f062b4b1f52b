/** How a vendor of GraphQL answers: one address, and what is asked for told by the text of the query. */
import { parse } from 'graphql';
import type { ServedRequest, ServedResponse } from '../providers/provider-server.ts';
import { isObject, type Values } from './terms.ts';
import type { VendorStore } from './vendor-store.ts';

export interface Operation {
  /** The one field that the query asks for at the top. */
  name: string;
  variables: Values;
  /** The text, for what a test wants to hold it to. */
  query: string;
}

export type Resolve = (operation: Operation, store: VendorStore, now: Date) => unknown;

/** Thrown by a resolver: told in the answer's errors, with status 200. */
export class GraphqlRefusal extends Error {}

export function answersGraphql(path: string, resolve: Resolve) {
  return (request: ServedRequest, store: VendorStore, now: Date): ServedResponse | undefined => {
    if (request.method !== 'POST' || request.path !== path) return undefined;
    try {
      const operation = operationIn(request.body);
      const data = { [operation.name]: resolve(operation, store, now) };
      return { status: 200, body: { data } };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { status: 200, body: { errors: [{ message }], data: null } };
    }
  };
}

/** Throws where the query is none. */
function operationIn(body: unknown): Operation {
  const { query, variables } = isObject(body) ? body : {};
  const [definition] = parse(String(query)).definitions;
  const [field] =
    definition?.kind === 'OperationDefinition' ? definition.selectionSet.selections : [];
  if (field?.kind !== 'Field') throw new GraphqlRefusal('The query asks for nothing');
  return {
    name: field.name.value,
    variables: isObject(variables) ? variables : {},
    query: String(query),
  };
}

/** A page of a connection: `nodes` and `pageInfo`. */
export function connectionPage(nodes: Values[], { first, after }: Values, max: number) {
  const size = Number(first ?? max);
  if (!Number.isInteger(size) || size < 1 || size > max) {
    throw new GraphqlRefusal(`first must be 1 to ${max}`);
  }
  const from = after == null ? 0 : Number(/^c_(\d+)$/.exec(String(after))?.[1]);
  if (Number.isNaN(from)) throw new GraphqlRefusal('The cursor is invalid');
  const to = from + size;
  return {
    nodes: nodes.slice(from, to),
    pageInfo: { hasNextPage: to < nodes.length, endCursor: nodes.length > 0 ? `c_${to}` : null },
  };
}
