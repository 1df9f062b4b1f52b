/** Spreads the completion of a heavy operation's pages over several turns of the event loop. */
import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type SchemaTypes,
} from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import type { Pace } from '../../work/pace.ts';
import type { OperationContext } from '../execution/operation-context.ts';

/** Edges that are completed in the same turn. */
const EDGES_PER_PART = 40;

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
    return pace ? spreadPage(page as PageResult, pace) : page;
  };
}

type PageResult = Page | Promise<Page>;

interface Page {
  edges: readonly unknown[];
}

/** Returns the page with promises of its edges, which resolve in the turns that may complete them. */
async function spreadPage(pageResult: PageResult, pace: Pace): Promise<Page> {
  const page = await pageResult;
  // The promises of a page live until its last turn. If all pages of an operation had them at the same time, the garbage
  // collector would copy them, and pause three times as long.
  while (pace.lastTurn) await pace.lastTurn;
  const edges: unknown[] = [];
  for (let start = 0; start < page.edges.length; start += EDGES_PER_PART) {
    const part = page.edges.slice(start, start + EDGES_PER_PART);
    const turn = pace.waitForTurn(part.length);
    edges.push(...(turn ? part.map((edge) => turn.then(() => edge)) : part));
  }
  return { ...page, edges };
}

SchemaBuilder.registerPlugin('pacedPages', PacedPagesPlugin);
