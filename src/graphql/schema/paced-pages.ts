/** Spreads the completion of a heavy operation's pages over several turns of the event loop. */
import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type SchemaTypes,
} from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import type { OperationContext } from '../execution/operation-context.ts';

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      pacedPages: PacedPagesPlugin<Types>;
    }
  }
}

type Resolver<Types extends SchemaTypes> = GraphQLFieldResolver<unknown, Types['Context'], object>;

class PacedPagesPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(resolve: Resolver<Types>, { args }: PothosOutputFieldConfig<Types>) {
    return 'first' in args ? withPace(resolve) : resolve;
  }
}

function withPace<Types extends SchemaTypes>(resolve: Resolver<Types>): Resolver<Types> {
  return (parent, args, context, info) => {
    const { pace } = context as OperationContext;
    const page = resolve(parent, args, context, info);
    if (!pace) return page;
    return (async () => {
      const resolvedPage = (await page) as { edges: readonly unknown[] };
      await pace.waitForTurn(resolvedPage.edges.length);
      return resolvedPage;
    })();
  };
}

SchemaBuilder.registerPlugin('pacedPages', PacedPagesPlugin);
