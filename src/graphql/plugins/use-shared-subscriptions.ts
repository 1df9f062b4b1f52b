/**
 * Runs subscriptions. Each event is executed with its own context and the caller's current rights, once for all
 * subscribers that share the result: those with equal selections and equal rights. A stream ends when its caller loses
 * the right to it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ASTNode,
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import type { Services } from '../../domain/call.ts';
import type { OpenStream, OpenStreams } from '../../domain/viewer/open-streams.ts';
import type { Viewer } from '../../domain/viewer/viewer.ts';
import type { DomainError, ErrorCode } from '../../errors.ts';
import type { StreamItem } from '../../events/stream-item.ts';
import { createContext } from '../execution/context.ts';
import { Message } from '../execution/message.ts';
import { cacheByOperation } from '../execution/operation-cache.ts';
import type { OperationArgs, OperationPlugin } from '../execution/operation-context.ts';
import { toProblems } from './use-problems.ts';

type CreateKey = (variables: Record<string, unknown> | null | undefined) => string;

let lastOperationNumber = 0;

/**
 * Returns a function that creates the key of the operation and of the variables below its root field, on which a message
 * depends in addition to its event and caller. Arguments of the root field are omitted, because they select the events of
 * a stream and not their content.
 */
export function prepareOperationKey(
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CreateKey {
  lastOperationNumber += 1;
  const number = lastOperationNumber;
  let names: string[] | undefined;
  return (variables) => {
    names ??= listVariablesBelowRoot(document, operation);
    // An absent variable has its default value, but a null one does not.
    const values = names.map((name) =>
      variables && Object.hasOwn(variables, name) ? [variables[name]] : [],
    );
    return `${number} ${JSON.stringify(values)}`;
  };
}

/** Returns a key of all properties that determine the rights of a caller. */
export function createViewerKey(viewer: Viewer): string {
  if (viewer.kind === 'END_USER') {
    const { id, projectId, integrationIds, permissions } = viewer;
    return `${projectId} ${id} ${integrationIds?.join() ?? '*'} ${permissions.join()}`;
  }
  const orgs = viewer.kind === 'BUILDER' ? viewer.orgIds : [viewer.orgId];
  return `${viewer.id} ${orgs.join()} ${viewer.scopes.join()}`;
}

function listVariablesBelowRoot(
  document: DocumentNode,
  operation: OperationDefinitionNode,
): string[] {
  // All variables of a fragment count, even if it contains the root field. This only reduces sharing.
  const nodesBelowRoot = operation.selectionSet.selections.flatMap((root): ASTNode[] =>
    root.kind === Kind.FIELD
      ? [...(root.directives ?? []), ...(root.selectionSet ? [root.selectionSet] : [])]
      : [root],
  );
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  const names = new Set<string>();
  for (const node of [...nodesBelowRoot, ...fragments]) {
    visit(node, { Variable: ({ name }) => void names.add(name.value) });
  }
  return [...names].sort();
}

const UNAVAILABLE_CODE: ErrorCode = 'SERVICE_UNAVAILABLE';
/** Delay between attempts to execute an item while the database is unreachable. */
const RETRY_MS = 1_000;

type Item = StreamItem<unknown, string | undefined>;

interface SubscriptionParts {
  services: Services;
  streams: OpenStreams;
  mapError: (error: unknown) => GraphQLError;
}

interface SubscriptionRuntime extends SubscriptionParts {
  /** Executes one event with all plugins. */
  execute: (args: ExecutionArgs) => Promise<ExecutionResult>;
}

interface Subscription {
  args: OperationArgs;
  operationKey: string;
}

export function useSharedSubscriptions(parts: SubscriptionParts): OperationPlugin {
  const getCreateKey = cacheByOperation(({ document, operation }) =>
    prepareOperationKey(document, operation),
  );
  let runtime: SubscriptionRuntime;
  return {
    onYogaInit({ yoga }) {
      const { execute } = yoga.getEnveloped({});
      runtime = { ...parts, execute };
    },
    onSubscribe({ context: { document, operation, schema }, setSubscribeFn }) {
      if (!document || !operation || !schema) return;
      const createKey = getCreateKey({ schema, document, operation });
      setSubscribeFn((args) =>
        subscribe(runtime, {
          args: args as OperationArgs,
          operationKey: createKey(args.variableValues),
        }),
      );
    },
  };
}

/** Returns the messages as they arrive. Returns errors if the stream can't be opened. */
async function subscribe(
  runtime: SubscriptionRuntime,
  subscription: Subscription,
): Promise<AsyncIterable<Message> | ExecutionResult> {
  const { mapError } = runtime;
  try {
    const source = await createSourceEventStream(subscription.args);
    if (!(Symbol.asyncIterator in source)) {
      return { errors: toProblems(subscription.args, source.errors ?? [], mapError) };
    }
    const items = (source as AsyncIterable<Item>)[Symbol.asyncIterator]();
    try {
      return new SubscriptionMessages(runtime, subscription, items);
    } catch (error) {
      await items.return?.();
      throw error;
    }
  } catch (error) {
    return { errors: [mapError(error)] };
  }
}

type Next = IteratorResult<Message, void>;
const DONE = { done: true, value: undefined } as const;

/** A class and not a generator, because return() must end a next() that waits for an item. */
class SubscriptionMessages implements AsyncIterableIterator<Message, void, void>, AsyncDisposable {
  readonly #runtime: SubscriptionRuntime;
  readonly #subscription: Subscription;
  readonly #items: AsyncIterator<Item>;
  readonly #stream: OpenStream;
  #viewer: Viewer;
  /** Callers with equal rights share a result. */
  #shareKey: string;
  #refusal: DomainError | null = null;
  #isOver = false;

  /** Throws if the caller has too many streams. */
  constructor(
    runtime: SubscriptionRuntime,
    subscription: Subscription,
    items: AsyncIterator<Item>,
  ) {
    const { viewer, credentials } = subscription.args.contextValue;
    if (!viewer) throw new Error('Bug: a stream was opened for a caller without credentials.');
    this.#runtime = runtime;
    this.#subscription = subscription;
    this.#items = items;
    this.#viewer = viewer;
    this.#shareKey = this.#createShareKey(viewer);
    this.#stream = runtime.streams.open(credentials, viewer, (reason) => {
      this.#refusal = reason;
      void items.return?.();
    });
  }

  async next(): Promise<Next> {
    if (this.#isOver) return DONE;
    try {
      return await this.#next();
    } catch (error) {
      await this.return();
      return { done: false, value: new Message({ errors: [this.#runtime.mapError(error)] }) };
    }
  }

  async return(): Promise<Next> {
    this.#isOver = true;
    this.#stream[Symbol.dispose]();
    await this.#items.return?.();
    return DONE;
  }

  async throw(error: unknown): Promise<Next> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #next(): Promise<Next> {
    const { done, value: item } = await this.#items.next();
    const viewer = done ? null : await this.#stream.confirm();
    if (this.#refusal) throw this.#refusal;
    if (!viewer || this.#isOver) return this.return();
    if (viewer !== this.#viewer) {
      this.#viewer = viewer;
      this.#shareKey = this.#createShareKey(viewer);
    }
    return { done: false, value: await item.computeOnce(this.#shareKey, this.#executeWithRetry) };
  }

  #createShareKey(viewer: Viewer): string {
    return `${this.#subscription.operationKey} ${createViewerKey(viewer)}`;
  }

  readonly #executeWithRetry = async (item: Item): Promise<Message> => {
    for (;;) {
      const message = await this.#execute(item);
      const isUnreachable = message.errors?.some(
        ({ extensions }) => extensions.code === UNAVAILABLE_CODE,
      );
      if (!isUnreachable || this.#runtime.streams.isStopping) return message;
      // No item is skipped during an outage. It is sent afterwards.
      await sleep(RETRY_MS, undefined, { ref: false });
    }
  };

  async #execute(item: Item): Promise<Message> {
    const { services, execute } = this.#runtime;
    const { args } = this.#subscription;
    // Plugins read the operation from the context. Its loaders are new, because loaders cache rows.
    const context = { ...args.contextValue, viewer: this.#viewer };
    const contextValue = { ...context, ...createContext(services, context) };
    const result = await execute({ ...args, rootValue: item, contextValue });
    return new Message(result, item.cursor);
  }
}
