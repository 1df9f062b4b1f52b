/** The Pothos builder with its plugins, scalars and default descriptions. */
import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import ZodPlugin from '@pothos/plugin-zod';
import { PAGE_DEFAULT, PAGE_MAX, type Page, pageSize } from '../../domain/access/paging/page.ts';
import { toIssues } from '../../domain/base/issues.ts';
import { invalidInput } from '../../kernel/errors.ts';
import { findPrefix, ID_PREFIXES } from '../../kernel/ids.ts';
import type { Context } from '../execution/context.ts';
import './resolver-plugin.ts';

interface SchemaTypes {
  Context: Context;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: false;
  DefaultNodeNullability: false;
  Scalars: {
    DateTime: { Input: Date; Output: Date };
    JSON: { Input: unknown; Output: unknown };
    JSONObject: { Input: Record<string, unknown>; Output: unknown };
    ID: { Input: string; Output: string };
  };
  Connection: Pick<Page<unknown>, 'totalCount'>;
}

const pageSizeText = `1 to ${PAGE_MAX}. Default: ${PAGE_DEFAULT}, if neither first nor last is set.`;

/**
 * Keeps the resolver of a field whose value may be a promise. Pothos otherwise removes it, and a compiled query then
 * returns the promise as the value.
 */
const KEPT_RESOLVER = { extensions: { pothosExposedField: undefined } };

/** Removes the resolver of a field that returns the member of its name. Compiled queries read such a member directly. */
const exposed = (name: string) => ({ extensions: { pothosExposedField: name } });

/** `SchemaTypes` with the defaults that Pothos adds. */
export type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>;

export const builder = new SchemaBuilder<SchemaTypes>({
  // Each plugin wraps those after it: callers are authorized before their input is validated.
  plugins: ['resolvers', RelayPlugin, ZodPlugin],
  defaultFieldNullability: false,
  zod: {
    validationError: (error, args) => invalidInput(toIssues(error, args)),
  },
  relay: {
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    nodesOnConnection: { description: 'The items of this page.' },
    edgesFieldOptions: {
      ...exposed('edges'),
      nullable: false,
      description: 'The items of this page with their cursors.',
    },
    nodeFieldOptions: {
      ...exposed('node'),
      nullable: false,
      description: 'The item at this position in the list.',
    },
    cursorFieldOptions: {
      description:
        'The position of the item in the list. Pass it as after or before to continue from here.',
    },
    pageInfoFieldOptions: {
      ...exposed('pageInfo'),
      description: 'Whether items precede or follow this page, and the cursors to read them.',
    },
    pageInfoTypeOptions: {
      description: 'Whether items precede or follow a page, and the cursors to read them.',
    },
    hasNextPageFieldOptions: {
      ...KEPT_RESOLVER,
      description: 'Whether items follow the last one of this page.',
    },
    hasPreviousPageFieldOptions: {
      ...KEPT_RESOLVER,
      description: 'Whether items precede the first one of this page.',
    },
    startCursorFieldOptions: {
      description: 'The cursor of the first item, to pass as before. Null on an empty page.',
    },
    endCursorFieldOptions: {
      description: 'The cursor of the last item, to pass as after. Null on an empty page.',
    },
    firstArgOptions: {
      description: `The number of items from the start, ${pageSizeText} Cannot be combined with last.`,
      validate: { schema: pageSize },
    },
    lastArgOptions: {
      description: `The number of items from the end, ${pageSizeText} Cannot be combined with first.`,
      validate: { schema: pageSize },
    },
    afterArgOptions: {
      description:
        'Only items after this cursor: the endCursor of a page, or the cursor of an edge.',
    },
    beforeArgOptions: {
      description:
        'Only items before this cursor: the startCursor of a page, or the cursor of an edge.',
    },
    idFieldOptions: {
      description:
        'Unique in the whole service. The prefix names the type. Ids of one type sort by creation time.',
    },
    nodeTypeOptions: {
      description: 'An object that node(id:) can return.',
      resolveType: (node: unknown) => findNodeTypeName(node as ResolvedNode),
    },
  },
});

builder.queryType({
  description: 'Reads. A caller sees only objects of its project or its orgs.',
});
builder.mutationType({
  description:
    'Changes. Invalid inputs refuse the operation before its first field runs. A mutation that fails changes nothing: its field is null, and `errors` has the reason. The fields of an operation run in order. A failed field does not undo the fields before it, and their results stay in `data`.',
});

builder.globalConnectionField('totalCount', (t) =>
  t.int({
    description:
      'The number of items in the whole list. It is counted only if the query selects it.',
    resolve: (page) => page.totalCount(),
  }),
);

/** A node as `loadNodes` returns it. A provider has no `id`, because it is not a row. */
interface ResolvedNode {
  id?: string;
  /** Set for notification events. */
  eventType?: string;
}

function findNodeTypeName({ id, eventType = '' }: ResolvedNode): string | undefined {
  if (id === undefined) return 'Provider';
  const prefix = findPrefix(id);
  if (!prefix) return undefined;
  if (prefix === 'evt') return getEventTypeName(eventType);
  // Relay reserves names that end in "Connection", so the reference API's connection has another name.
  return prefix === 'con' ? 'ConnectedAccount' : ID_PREFIXES[prefix];
}

/** Returns the name of an event's type: `ConnectionCreated` for `CONNECTION_CREATED`. */
export function getEventTypeName(eventType: string): string {
  return eventType
    .toLowerCase()
    .replace(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase());
}
