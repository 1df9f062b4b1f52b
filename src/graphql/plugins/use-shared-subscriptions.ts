/**
 * Runs subscriptions. Each event is executed with its own context and the caller's current rights. Subscribers with
 * equal selections and equal rights share one execution. A stream ends when its caller loses the right to it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ASTVisitor,
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import type { Services } from '../../domain/access/call.ts';
import type { OpenResultStreams } from '../../domain/access/viewer/open-result-streams.ts';
import type { Viewer } from '../../domain/access/viewer/viewer.ts';
import type { ResultStreamItem } from '../../events/result-stream-item.ts';
import type { DomainError, ErrorCode } from '../../kernel/errors.ts';
import { createContext } from '../execution/context.ts';
import { Message } from '../execution/message.ts';
import { cacheByOperation } from '../execution/operation-cache.ts';
import type { OperationArgs, OperationPlugin } from '../execution/operation-context.ts';
import { toProblems } from './use-problems.ts';

const UNAVAILABLE_CODE: ErrorCode = 'SERVICE_UNAVAILABLE';
/** Delay between attempts to execute an item while the database is unreachable. */
const RETRY_MS = 1_000;

type Item = ResultStreamItem<unknown, string | undefined>;

interface SubscriptionParts {
  services: Services;
  streams: OpenResultStreams;
  mapError: (error: unknown) => GraphQLError;
}

interface Subscription extends SubscriptionParts {
  args: OperationArgs;
  operation: SharedOperation;
  /** Executes one event with all plugins. */
  execute: (args: ExecutionArgs) => Promise<ExecutionResult>;
}

export function useSharedSubscriptions(parts: SubscriptionParts): OperationPlugin {
  let execute: Subscription['execute'];
  return {
    onYogaInit({ yoga }) {
      ({ execute } = yoga.getEnveloped({}));
    },
    onSubscribe({ context: { document, operation, schema }, setSubscribeFn }) {
      if (!document || !operation || !schema) return;
      const shared = getSharedOperation({ schema, document, operation });
      setSubscribeFn((args) =>
        subscribe({ ...parts, execute, operation: shared, args: args as OperationArgs }),
      );
    },
  };
}

/** Returns the messages as they arrive. Returns errors if the stream can't be opened. */
async function subscribe(
  subscription: Subscription,
): Promise<AsyncIterable<Message> | ExecutionResult> {
  const { args, mapError } = subscription;
  try {
    const source = await createSourceEventStream(args);
    if (!(Symbol.asyncIterator in source)) {
      return { errors: toProblems(args, source.errors ?? [], mapError) };
    }
    const items = source as AsyncGenerator<Item>;
    try {
      return openMessages(subscription, items);
    } catch (error) {
      await items.return(undefined);
      throw error;
    }
  } catch (error) {
    return { errors: [mapError(error)] };
  }
}

/** Throws if the caller has too many streams. */
function openMessages(
  subscription: Subscription,
  items: AsyncGenerator<Item>,
): AsyncGenerator<Message, void> {
  const { args, streams, mapError } = subscription;
  const { viewer, credentials } = args.contextValue;
  if (!viewer) throw new Error('Bug: a stream was opened for a caller without credentials.');
  let refusal: DomainError | null = null;
  const stream = streams.open(credentials, viewer, (reason) => {
    refusal = reason;
    void items.return(undefined);
  });
  const close = async () => {
    stream[Symbol.dispose]();
    await items.return(undefined);
  };

  async function* generate(): AsyncGenerator<Message, void> {
    let sharedResults: SharedResults | null = null;
    try {
      for await (const item of items) {
        const currentViewer = await stream.waitForCheck();
        if (!currentViewer) break;
        if (sharedResults?.viewer !== currentViewer)
          sharedResults = createSharedResults(subscription, currentViewer);
        yield await item.computeOnce(sharedResults.key, sharedResults.execute);
      }
      if (refusal) throw refusal;
    } catch (error) {
      await close();
      yield new Message({ errors: [mapError(error)] });
    } finally {
      await close();
    }
  }

  const messages = generate();
  const end = messages.return.bind(messages);
  // Without this, a generator ends only after the item for which next() waits.
  messages.return = async () => {
    await close();
    return end();
  };
  return messages;
}

/** The results of an operation for callers with equal rights. */
interface SharedResults {
  viewer: Viewer;
  key: string;
  execute: (item: Item) => Promise<Message>;
}

function createSharedResults(subscription: Subscription, viewer: Viewer): SharedResults {
  const { operation, args } = subscription;
  return {
    viewer,
    key: createResultsKey(operation, args.variableValues ?? {}, viewer),
    execute: (item) => executeWithRetry(subscription, viewer, item),
  };
}

async function executeWithRetry(
  subscription: Subscription,
  viewer: Viewer,
  item: Item,
): Promise<Message> {
  for (;;) {
    const message = await executeItem(subscription, viewer, item);
    const isUnreachable = message.errors?.some(
      ({ extensions }) => extensions.code === UNAVAILABLE_CODE,
    );
    if (!isUnreachable || subscription.streams.isStopping) return message;
    // No item is skipped during an outage. It is sent afterwards.
    await sleep(RETRY_MS, undefined, { ref: false });
  }
}

async function executeItem(
  { services, execute, args }: Subscription,
  viewer: Viewer,
  item: Item,
): Promise<Message> {
  const { gatewayUrl } = args.contextValue;
  // Plugins read the operation from the context. Its loaders are new, because loaders cache rows.
  const contextValue = { ...args.contextValue, ...createContext(services, { viewer, gatewayUrl }) };
  const result = await execute({ ...args, rootValue: item, contextValue });
  return new Message(result, item.cursor);
}

interface SharedOperation {
  number: number;
  /** The variables on which a message depends. */
  variables: readonly string[];
}

let lastNumber = 0;

/** Returns the parts of an operation's keys that are equal for all its subscribers. */
export const getSharedOperation = cacheByOperation(({ document, operation }): SharedOperation => {
  lastNumber += 1;
  return { number: lastNumber, variables: listVariablesBelowRoot(document, operation) };
});

/**
 * Lists the variables of an operation, except for those in arguments of the root field, which select the events of a
 * stream and not their content.
 */
function listVariablesBelowRoot(
  { definitions }: DocumentNode,
  { selectionSet }: OperationDefinitionNode,
): string[] {
  const names = new Set<string>();
  const visitor: ASTVisitor = { Variable: ({ name }) => void names.add(name.value) };
  for (const root of selectionSet.selections) {
    visit(root.kind === Kind.FIELD ? { ...root, arguments: [] } : root, visitor);
  }
  // A fragment with the root field adds its arguments' variables, which only reduces sharing.
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) visit(definition, visitor);
  }
  return [...names];
}

export function createResultsKey(
  { number, variables }: SharedOperation,
  values: Record<string, unknown>,
  viewer: Viewer,
): string {
  // An absent variable has its default value, and a null variable does not.
  const usedValues = variables.map((name) => (Object.hasOwn(values, name) ? [values[name]] : []));
  return JSON.stringify([number, usedValues, listRights(viewer)]);
}

/** Lists the properties that determine the rights of a caller. */
function listRights(viewer: Viewer): unknown[] {
  if (viewer.kind === 'END_USER') {
    return [viewer.projectId, viewer.id, viewer.integrationIds, viewer.permissions];
  }
  const orgs = viewer.kind === 'BUILDER' ? [...viewer.roles] : [viewer.orgId];
  return [viewer.id, orgs, viewer.scopes];
}
