/** Refuses argument values that the database cannot store unchanged. */
import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type SchemaTypes,
} from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import { requireNoIssues } from '../../domain/issues.ts';
import { listUnstorable } from '../../domain/storable-input.ts';

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
    return withStorableCheck(resolve, field);
  }

  override wrapSubscribe(
    subscribe: Resolver<Types> | undefined,
    field: PothosOutputFieldConfig<Types>,
  ) {
    return subscribe && withStorableCheck(subscribe, field);
  }
}

function withStorableCheck<Types extends SchemaTypes>(
  resolve: Resolver<Types>,
  field: PothosOutputFieldConfig<Types>,
): Resolver<Types> {
  if (Object.keys(field.args).length === 0) return resolve;
  return (parent, args, context, info) => {
    requireNoIssues(listUnstorable(args, []));
    return resolve(parent, args, context, info);
  };
}

SchemaBuilder.registerPlugin('storableArguments', StorableArgumentsPlugin);
