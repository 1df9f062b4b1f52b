/** Serves a GraphQL vendor: one path, whose queries name the operation. */
import { parse } from 'graphql';
import type { ServedRequest, ServedResponse } from '../providers/provider-server.ts';
import type { VendorStore } from './vendor-store.ts';
import { isObject, type Values } from './wire-format.ts';

export interface GraphqlOperation {
  /** The only top-level field of the query. */
  name: string;
  variables: Values;
  /** The text of the query, for checks of its selection. */
  query: string;
}

type Resolve = (operation: GraphqlOperation, store: VendorStore, now: Date) => unknown;

/** Thrown by a resolver. The response has status 200 and the message in `errors`. */
export class GraphqlRefusal extends Error {}

export function serveGraphql(path: string, resolve: Resolve) {
  return (request: ServedRequest, store: VendorStore, now: Date): ServedResponse | undefined => {
    if (request.method !== 'POST' || request.path !== path) return undefined;
    try {
      const operation = parseOperation(request.body);
      const data = { [operation.name]: resolve(operation, store, now) };
      return { status: 200, body: { data } };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { status: 200, body: { errors: [{ message }], data: null } };
    }
  };
}

/** Throws GraphqlRefusal if the query selects no field at the top level. */
function parseOperation(body: unknown): GraphqlOperation {
  const { query, variables } = isObject(body) ? body : {};
  const [definition] = parse(String(query)).definitions;
  const [field] =
    definition?.kind === 'OperationDefinition' ? definition.selectionSet.selections : [];
  if (field?.kind !== 'Field') throw new GraphqlRefusal('The query selects no field');
  return {
    name: field.name.value,
    variables: isObject(variables) ? variables : {},
    query: String(query),
  };
}

/** Returns a page of a connection: `nodes` and `pageInfo`. The nodes are in the order of their IDs' numbers. */
export function createConnectionPage(nodes: Values[], { first, after }: Values, max: number) {
  const size = Number(first ?? max);
  if (!Number.isInteger(size) || size < 1 || size > max) {
    throw new GraphqlRefusal(`first must be 1 to ${max}`);
  }
  const lastNumber = after == null ? 0 : Number(/^c_(\d+)$/.exec(String(after))?.[1]);
  if (Number.isNaN(lastNumber)) throw new GraphqlRefusal('The cursor is invalid');
  const remaining = nodes.filter(({ id }) => readNumber(id) > lastNumber);
  const page = remaining.slice(0, size);
  const [lastNode] = page.slice(-1);
  return {
    nodes: page,
    pageInfo: {
      hasNextPage: page.length < remaining.length,
      endCursor: lastNode ? `c_${readNumber(lastNode.id)}` : null,
    },
  };
}

function readNumber(id: unknown): number {
  return Number(/\d+$/.exec(String(id))?.[0]);
}
