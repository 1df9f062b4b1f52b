/**
 * Refuses in every coerced argument what would be stored as something else or not at all: NUL and lone
 * surrogates in texts, and in JSON what is too deep to be walked, a number without end, and a member
 * named __proto__.
 */
import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type SchemaTypes,
} from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import { issueAt } from '../domain/issues.ts';
import { isStorableText } from '../domain/storable-json.ts';
import { ISSUES_MAX, type Issue, invalidInput } from '../errors.ts';

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      storableArguments: StorableArgumentsPlugin<Types>;
    }
  }
}

type Resolver<Types extends SchemaTypes> = GraphQLFieldResolver<unknown, Types['Context'], object>;

class StorableArgumentsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(resolve: Resolver<Types>, field: PothosOutputFieldConfig<Types>) {
    return checked(resolve, field);
  }

  override wrapSubscribe(
    subscribe: Resolver<Types> | undefined,
    field: PothosOutputFieldConfig<Types>,
  ) {
    return subscribe && checked(subscribe, field);
  }
}

function checked<Types extends SchemaTypes>(
  resolve: Resolver<Types>,
  field: PothosOutputFieldConfig<Types>,
): Resolver<Types> {
  if (Object.keys(field.args).length === 0) return resolve;
  return (parent, args, context, info) => {
    const issues = [...listUnstorable(args, []).take(ISSUES_MAX)];
    if (issues.length > 0) throw invalidInput(issues);
    return resolve(parent, args, context, info);
  };
}

/** Far above what records and configurations have, far below what overflows the stack. */
const DEPTH_MAX = 64;

function* listUnstorable(value: unknown, path: PropertyKey[]): Generator<Issue> {
  if (typeof value === 'string') {
    if (!isStorableText(value)) yield issueAt(path, ILL_FORMED);
  } else if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    if (path.length > DEPTH_MAX) {
      const detail = `must not be nested deeper than ${DEPTH_MAX} levels.`;
      yield issueAt(path.slice(0, 2), detail);
      return;
    }
    for (const [key, item] of Object.entries(value)) {
      const inner = [...path, Array.isArray(value) ? Number(key) : key];
      if (!isStorableText(key)) yield issueAt(path, ILL_FORMED);
      if (key === '__proto__') yield issueAt(path, 'must not have a member named __proto__.');
      yield* listUnstorable(item, inner);
    }
  } else if (typeof value === 'number' && !Number.isFinite(value)) {
    yield issueAt(path, 'must be a number of at most 64 bits.');
  }
}

const ILL_FORMED = 'must be well-formed Unicode without NUL characters.';

SchemaBuilder.registerPlugin('storableArguments', StorableArgumentsPlugin);
