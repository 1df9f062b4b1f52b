/**
 * Rejects callers without credentials at every root field, and refuses callers that lack the need of a field. Runs before
 * the input is validated, so that a caller without the scope learns nothing else.
 */
import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type SchemaTypes,
} from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import { authorize, type Need } from '../../domain/viewer/needs.ts';
import { missingCredentials } from '../../errors.ts';
import type { Context } from '../execution/context.ts';

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      authorizedCallers: AuthorizedCallersPlugin<Types>;
    }
  }
}

type Resolver<Types extends SchemaTypes> = GraphQLFieldResolver<unknown, Types['Context'], object>;

const ROOTS: readonly string[] = ['Query', 'Mutation', 'Subscription'];

class AuthorizedCallersPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(resolve: Resolver<Types>, field: PothosOutputFieldConfig<Types>) {
    return ROOTS.includes(field.kind) || findNeed(field)
      ? withAuthorization(resolve, field)
      : resolve;
  }

  override wrapSubscribe(
    subscribe: Resolver<Types> | undefined,
    field: PothosOutputFieldConfig<Types>,
  ) {
    return subscribe && withAuthorization(subscribe, field);
  }
}

function withAuthorization<Types extends SchemaTypes>(
  resolve: Resolver<Types>,
  field: PothosOutputFieldConfig<Types>,
): Resolver<Types> {
  const need = findNeed(field) ?? 'nothing';
  return (parent, args, context, info) => {
    const { viewer } = context as Context;
    if (viewer === null) throw missingCredentials();
    authorize(viewer, need);
    return resolve(parent, args, context, info);
  };
}

/** Returns the need that `describeField` stores in a field's extensions. */
function findNeed<Types extends SchemaTypes>({ extensions }: PothosOutputFieldConfig<Types>) {
  return extensions?.needs as Need | undefined;
}

SchemaBuilder.registerPlugin('authorizedCallers', AuthorizedCallersPlugin);
