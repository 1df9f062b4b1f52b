/**
 * Refuses NUL and lone surrogates in every coerced argument: PostgreSQL can't store the first and would
 * store the second as another character. Refuses JSON too deep to be walked as well.
 */
import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type SchemaTypes,
} from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import { pathName } from '../domain/issues.ts';
import { type Issue, invalidInput } from '../errors.ts';

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      wellFormedText: WellFormedTextPlugin<Types>;
    }
  }
}

type Resolver<Types extends SchemaTypes> = GraphQLFieldResolver<unknown, Types['Context'], object>;

class WellFormedTextPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
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
    const issues = [...illFormedText(args, [])];
    if (issues.length > 0) throw invalidInput(issues);
    return resolve(parent, args, context, info);
  };
}

/** Far above what records and configurations have, far below what overflows the stack. */
const DEPTH_MAX = 64;

function* illFormedText(value: unknown, path: PropertyKey[]): Generator<Issue> {
  if (typeof value === 'string') {
    if (isIllFormed(value)) yield issue(path);
  } else if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    if (path.length > DEPTH_MAX) {
      const detail = `must not be nested deeper than ${DEPTH_MAX} levels.`;
      yield { in: 'body', name: pathName(path.slice(0, 2)), detail };
      return;
    }
    for (const [key, item] of Object.entries(value)) {
      const inner = [...path, Array.isArray(value) ? Number(key) : key];
      if (isIllFormed(key)) yield issue(path);
      yield* illFormedText(item, inner);
    }
  }
}

function isIllFormed(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed();
}

function issue(path: PropertyKey[]): Issue {
  const detail = 'must be well-formed Unicode without NUL characters.';
  return { in: 'body', name: pathName(path), detail };
}

SchemaBuilder.registerPlugin('wellFormedText', WellFormedTextPlugin);
