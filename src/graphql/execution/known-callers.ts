/** Refuses callers without credentials at every root field, before any of their input is checked. */
import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type SchemaTypes,
} from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import { withoutCredentials } from '../../errors.ts';
import type { Context } from './context.ts';

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      knownCallers: KnownCallersPlugin<Types>;
    }
  }
}

type Resolver<Types extends SchemaTypes> = GraphQLFieldResolver<unknown, Types['Context'], object>;

const ROOTS: readonly string[] = ['Query', 'Mutation', 'Subscription'];

class KnownCallersPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(resolve: Resolver<Types>, { kind }: PothosOutputFieldConfig<Types>) {
    return ROOTS.includes(kind) ? forKnownCallers(resolve) : resolve;
  }

  override wrapSubscribe(subscribe: Resolver<Types> | undefined) {
    return subscribe && forKnownCallers(subscribe);
  }
}

function forKnownCallers<Types extends SchemaTypes>(resolve: Resolver<Types>): Resolver<Types> {
  return (parent, args, context, info) => {
    if ((context as Context).viewer === null) throw withoutCredentials();
    return resolve(parent, args, context, info);
  };
}

SchemaBuilder.registerPlugin('knownCallers', KnownCallersPlugin);
