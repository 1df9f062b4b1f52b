/**
 * Wraps the resolvers of all fields: authorizes the caller, and spreads the pages of heavy operations. Arguments were
 * checked before the operation ran (execution/argument-checks.ts).
 */
import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type SchemaTypes,
} from '@pothos/core';
import type { FieldNode, GraphQLFieldResolver } from 'graphql';
import { authorize, type Need } from '../../domain/access/viewer/needs.ts';
import { missingCredentials } from '../../kernel/errors.ts';
import type { Pace } from '../../work/pace.ts';
import type { Context } from '../execution/context.ts';
import type { OperationContext } from '../execution/operation-context.ts';

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      resolvers: ResolverPlugin<Types>;
    }
  }
}

type Resolver = GraphQLFieldResolver<unknown, object, object>;

interface Field {
  kind: string;
  args: object;
  extensions?: Readonly<Record<string, unknown>> | null;
  pothosOptions: { resolve?: unknown };
}

const ROOTS: readonly string[] = ['Query', 'Mutation', 'Subscription'];

class ResolverPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  /** Keeps the declared order of arguments and the rule between them, for argument-checks.ts. */
  override onOutputFieldConfig(
    config: PothosOutputFieldConfig<Types>,
  ): PothosOutputFieldConfig<Types> {
    const { validate } = config.pothosOptions as { validate?: { refine?: unknown } };
    const argumentNames = Object.keys(config.args);
    const extensions = { ...config.extensions, argumentNames, argumentRule: validate?.refine };
    return argumentNames.length > 0 ? { ...config, extensions } : config;
  }

  override wrapResolve(resolve: Resolver, field: Field): Resolver {
    const checkedResolve = field.extensions?.parseArguments
      ? withoutSecondCheck(resolve, field)
      : resolve;
    const pacedResolve = 'first' in field.args ? withPace(checkedResolve) : checkedResolve;
    return ROOTS.includes(field.kind) || findNeed(field)
      ? withAuthorization(pacedResolve, field)
      : pacedResolve;
  }

  override wrapSubscribe(subscribe: Resolver | undefined, field: Field): Resolver | undefined {
    return subscribe && withAuthorization(subscribe, field);
  }
}

/** Refuses callers without credentials, and callers that do not meet the need of the field. */
function withAuthorization(resolve: Resolver, field: Field): Resolver {
  const need = findNeed(field) ?? 'nothing';
  return (parent, args, context, info) => {
    const { viewer } = context as Context;
    if (viewer === null) throw missingCredentials();
    authorize(viewer, need);
    return resolve(parent, args, context, info);
  };
}

/**
 * Skips the validation of the zod plugin if argument-checks.ts has parsed the input with the same schema. A second
 * validation takes 4 % of the CPU time of a write with 100 records.
 */
function withoutSecondCheck(resolve: Resolver, { pothosOptions }: Field): Resolver {
  const declaredResolve = pothosOptions.resolve as Resolver;
  return (parent, args, context, info) => {
    const isParsed = (context as Context).inputs?.has(info.fieldNodes[0] as FieldNode);
    return (isParsed ? declaredResolve : resolve)(parent, args, context, info);
  };
}

/** Returns the need that `describeField` stores in a field's extensions. */
function findNeed({ extensions }: Field): Need | undefined {
  return extensions?.needs as Need | undefined;
}

/** Spreads the completion of a heavy operation's pages over several turns of the event loop. */
function withPace(resolve: Resolver): Resolver {
  return (parent, args, context, info) => {
    const { pace } = context as OperationContext;
    const page = resolve(parent, args, context, info);
    return pace ? spreadPage(page as PageResult, pace) : page;
  };
}

/** Edges that are completed in the same turn of the event loop. */
const EDGES_PER_PART = 40;

type PageResult = Page | Promise<Page>;

interface Page {
  edges: readonly unknown[];
}

/** Returns the page with promises of its edges, which resolve when the pace allows their completion. */
async function spreadPage(pageResult: PageResult, pace: Pace): Promise<Page> {
  const page = await pageResult;
  // The promises of a page live until its last part is completed. If all pages of an operation had them at the same
  // time, the garbage collector would copy them, and pause three times as long.
  while (pace.lastWait) await pace.lastWait;
  const edges: unknown[] = [];
  for (let start = 0; start < page.edges.length; start += EDGES_PER_PART) {
    const part = page.edges.slice(start, start + EDGES_PER_PART);
    const wait = pace.waitForAllowance(part.length);
    edges.push(...(wait ? part.map((edge) => wait.then(() => edge)) : part));
  }
  return { ...page, edges };
}

SchemaBuilder.registerPlugin('resolvers', ResolverPlugin);
