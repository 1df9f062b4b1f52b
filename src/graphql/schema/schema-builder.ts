/** The Pothos builder: plugins, scalars and defaults that every type file builds on. */
import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import ZodPlugin from '@pothos/plugin-zod';
import { issuesOf } from '../../domain/issues.ts';
import { PAGE_DEFAULT, PAGE_MAX, type Page } from '../../domain/page.ts';
import { invalidInput } from '../../errors.ts';
import type { Context } from '../execution/context.ts';
import { typeNameOfId } from './node-types.ts';
import '../execution/known-callers.ts';
import './storable-arguments.ts';

export interface SchemaTypes {
  Context: Context;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: false;
  DefaultNodeNullability: false;
  Scalars: {
    DateTime: { Input: Date; Output: Date };
    JSONObject: { Input: Record<string, unknown>; Output: unknown };
    ID: { Input: string; Output: string };
  };
  Connection: Pick<Page<unknown>, 'totalCount'>;
}

const pageSizeText = `1 to ${PAGE_MAX}; ${PAGE_DEFAULT} if neither first nor last is given.`;

/**
 * For a member that may be a promise: without this, Pothos takes the field's resolver away, and a compiled
 * query takes what it finds without waiting.
 */
const MAYBE_PROMISED = { extensions: { pothosExposedField: undefined } };

/** SchemaTypes as Pothos completes them: what its generic types take. */
export type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>;

export const builder = new SchemaBuilder<SchemaTypes>({
  // Each wraps those after it: who asks is known before what they gave is looked at.
  plugins: ['knownCallers', 'storableArguments', RelayPlugin, ZodPlugin],
  defaultFieldNullability: false,
  zod: {
    validationError: (error, args) => invalidInput(issuesOf(error, args)),
  },
  relay: {
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    nodesOnConnection: { description: 'The nodes of the edges.' },
    edgesFieldOptions: {
      nullable: false,
      description: 'The items of this page with their cursors.',
    },
    nodeFieldOptions: { nullable: false, description: 'The item.' },
    cursorFieldOptions: { description: 'Marks this place in the list, for after and before.' },
    pageInfoFieldOptions: { description: 'Where this page lies in the list.' },
    pageInfoTypeOptions: { description: 'Where a page lies in its list.' },
    hasNextPageFieldOptions: {
      ...MAYBE_PROMISED,
      description: 'Whether items follow the last one of this page.',
    },
    hasPreviousPageFieldOptions: {
      ...MAYBE_PROMISED,
      description: 'Whether items precede the first one of this page.',
    },
    startCursorFieldOptions: { description: 'The cursor of the first item.' },
    endCursorFieldOptions: { description: 'The cursor of the last item.' },
    firstArgOptions: {
      description: `How many items from the start: ${pageSizeText} Not together with last.`,
    },
    lastArgOptions: {
      description: `How many items from the end: ${pageSizeText} Not together with first.`,
    },
    afterArgOptions: { description: 'Only items after this cursor.' },
    beforeArgOptions: { description: 'Only items before this cursor.' },
    idFieldOptions: {
      description: 'The id: unique in the whole service, sorted by time of creation.',
    },
    nodeTypeOptions: {
      description: 'Anything with an id that node(id:) finds.',
      resolveType: (row: unknown) => typeNameOfId((row as { id: string }).id),
    },
  },
});

builder.queryType({ description: 'Reads. Everything is scoped to the caller.' });
builder.mutationType({
  description: 'Changes. A refused change changes nothing and is reported in errors.',
});

builder.globalConnectionField('totalCount', (t) =>
  t.int({
    description: 'How many items the whole list has. Counted only when asked for.',
    resolve: (page) => page.totalCount(),
  }),
);
