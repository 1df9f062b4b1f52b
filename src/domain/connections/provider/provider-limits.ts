/**
 * Limits requests to providers. Each connection has a maximum concurrency and rate, and pauses if the provider requires
 * it. Each project, each provider and the process also have a maximum concurrency, so that a slow provider does not delay
 * other providers, and a busy project does not delay other projects. Each process counts its own requests in memory.
 */
import { LRUCache } from 'lru-cache';
import type { Provider } from '../../../providers/contract.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { HOUR_MS } from '../../../work/durations.ts';
import { growUpTo } from '../../../work/growing-cache.ts';
import { createTokenBuckets, type TokenBuckets } from '../../../work/token-buckets.ts';

interface CapacityLimits {
  max: number;
  projectMax: number;
  /** The capacity reserved for projects without a running request. */
  reserved: number;
}

/** Concurrent requests to one provider. */
const PROVIDER_CAPACITY: CapacityLimits = { max: 72, projectMax: 32, reserved: 8 };
/** Concurrent requests to all providers. The process has 256 sockets for providers, and keeps 32 for token requests. */
const PROCESS_CAPACITY: CapacityLimits = { max: 224, projectMax: 96, reserved: 24 };
/** The maximum number of waiting requests of one connection. */
const WAITING_MAX = 500;
/** The maximum wait of one request. Callers wait up to 30 s in total. */
const WAIT_MS_MAX = 20_000;
/** The pause after a response that does not specify one. */
const PAUSE_MS = 1_000;
/** The maximum pause, even if the provider specifies a longer one. */
const PAUSE_MS_MAX = HOUR_MS;
/** The maximum number of connections of one provider whose rates are kept in memory. */
const RATES_MAX = 5_000;

/** The maximum number of providers whose requests are counted: the built-in ones, and the latest custom ones. */
const PROVIDERS_MAX = 2_000;

/** The connection that sends a request. */
export interface LimitedConnection {
  connectionId: string;
  projectId: string;
  provider: Pick<Provider, 'name' | 'displayName' | 'limits' | 'document'>;
}

/** Counts concurrent requests, and limits them in total and for each project. */
class Capacity {
  readonly #limits: CapacityLimits;
  readonly #runningByProject = new Map<string, number>();
  #running = 0;

  constructor(limits: CapacityLimits) {
    this.#limits = limits;
  }

  get isFull(): boolean {
    return this.#running >= this.#limits.max;
  }

  isOpenTo({ projectId }: LimitedConnection): boolean {
    const { max, projectMax, reserved } = this.#limits;
    const projectRunning = this.#runningByProject.get(projectId) ?? 0;
    if (this.isFull) return false;
    if (projectRunning === 0) return true;
    // A project may use no more capacity than it leaves free, so that busy projects leave some for another project.
    return projectRunning < Math.min(projectMax, max - this.#running - reserved);
  }

  count({ projectId }: LimitedConnection, delta: 1 | -1): void {
    this.#running += delta;
    const projectRunning = (this.#runningByProject.get(projectId) ?? 0) + delta;
    if (projectRunning > 0) this.#runningByProject.set(projectId, projectRunning);
    else this.#runningByProject.delete(projectId);
  }
}

/** The running and waiting requests of one connection. */
class ConnectionQueue {
  readonly connection: LimitedConnection;
  readonly provider: ProviderQueue;
  running = 0;
  readonly waiting = new Set<() => void>();
  pausedUntilMs = 0;
  timer: NodeJS.Timeout | undefined;

  constructor(connection: LimitedConnection, provider: ProviderQueue) {
    this.connection = connection;
    this.provider = provider;
  }
}

/** The requests of all connections to one provider. */
class ProviderQueue {
  readonly rates: TokenBuckets;
  readonly capacity = new Capacity(PROVIDER_CAPACITY);
  /** Queues that wait for capacity of the provider, the longest wait first. */
  readonly heldQueues = new Set<ConnectionQueue>();

  constructor({ requestsPerSecond, concurrency }: Provider['limits'], now: () => number) {
    // The burst is at most the concurrency, because providers also limit short periods.
    const rate = { perSecond: requestsPerSecond, burst: concurrency, max: RATES_MAX };
    this.rates = createTokenBuckets(rate, now);
  }
}

export class ProviderLimits {
  readonly #now: () => number;
  readonly #connections = new Map<string, ConnectionQueue>();
  readonly #providers = new LRUCache<string, ProviderQueue>(growUpTo(PROVIDERS_MAX));
  readonly #capacity = new Capacity(PROCESS_CAPACITY);
  /** Queues that wait for capacity of the process, the longest wait first. */
  readonly #heldQueues = new Set<ConnectionQueue>();

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Runs `work` when it is its turn. Throws RATE_LIMITED without running it if the wait would be too long. */
  async run<T>(connection: LimitedConnection, work: () => Promise<T>): Promise<T> {
    const queue = this.#getQueue(connection);
    await this.#waitForTurn(queue);
    try {
      return await work();
    } finally {
      this.#finish(queue);
    }
  }

  /** Pauses new requests of the connection for this time. Null means the default pause. */
  pause(connection: LimitedConnection, ms: number | null): void {
    const queue = this.#getQueue(connection);
    const untilMs = this.#now() + Math.min(ms ?? PAUSE_MS, PAUSE_MS_MAX);
    queue.pausedUntilMs = Math.max(queue.pausedUntilMs, untilMs);
    this.#deleteIfIdle(queue);
  }

  #getQueue(connection: LimitedConnection): ConnectionQueue {
    const { connectionId } = connection;
    const queue =
      this.#connections.get(connectionId) ??
      new ConnectionQueue(connection, this.#getProviderQueue(connection));
    this.#connections.set(connectionId, queue);
    return queue;
  }

  /** Projects may have custom providers of the same name, and a change of a document may change its limits. */
  #getProviderQueue({ provider: { name, limits, document } }: LimitedConnection): ProviderQueue {
    const key = document?.revision ?? name;
    const provider = this.#providers.get(key) ?? new ProviderQueue(limits, this.#now);
    this.#providers.set(key, provider);
    return provider;
  }

  #waitForTurn(queue: ConnectionQueue): Promise<void> {
    if (this.#getPauseMs(queue) > WAIT_MS_MAX || queue.waiting.size >= WAITING_MAX) {
      return Promise.reject(createRateLimitError(queue.connection, this.#getPauseMs(queue)));
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const deadline = setTimeout(() => {
      queue.waiting.delete(start);
      reject(createRateLimitError(queue.connection, this.#getPauseMs(queue)));
      this.#deleteIfIdle(queue);
    }, WAIT_MS_MAX);
    const start = () => {
      clearTimeout(deadline);
      resolve();
    };
    queue.waiting.add(start);
    this.#advance(queue);
    return promise;
  }

  /** Starts the requests that may run now. Other requests start when a request finishes or when the rate permits. */
  #advance(queue: ConnectionQueue): void {
    const { provider, waiting, connection } = queue;
    provider.heldQueues.delete(queue);
    this.#heldQueues.delete(queue);
    for (const start of waiting) {
      if (queue.running >= connection.provider.limits.concurrency) return;
      if (!provider.capacity.isOpenTo(connection)) {
        provider.heldQueues.add(queue);
        return;
      }
      if (!this.#capacity.isOpenTo(connection)) {
        this.#heldQueues.add(queue);
        return;
      }
      const waitMs =
        this.#getPauseMs(queue) || provider.rates.take(connection.connectionId).waitSeconds * 1_000;
      if (waitMs > 0) {
        clearTimeout(queue.timer);
        queue.timer = setTimeout(() => this.#advance(queue), Math.ceil(waitMs));
        return;
      }
      waiting.delete(start);
      this.#count(queue, 1);
      start();
    }
  }

  #finish(queue: ConnectionQueue): void {
    const { capacity, heldQueues } = queue.provider;
    this.#count(queue, -1);
    // Held queues come first, so that a queue that is never empty can't keep its capacity.
    this.#advanceHeld(capacity, heldQueues);
    this.#advanceHeld(this.#capacity, this.#heldQueues);
    this.#advance(queue);
    this.#deleteIfIdle(queue);
  }

  #advanceHeld(capacity: Capacity, heldQueues: Set<ConnectionQueue>): void {
    for (const queue of [...heldQueues]) {
      if (capacity.isFull) return;
      this.#advance(queue);
    }
  }

  #count(queue: ConnectionQueue, delta: 1 | -1): void {
    queue.running += delta;
    queue.provider.capacity.count(queue.connection, delta);
    this.#capacity.count(queue.connection, delta);
  }

  #deleteIfIdle(queue: ConnectionQueue): void {
    if (queue.running > 0 || queue.waiting.size > 0) return;
    clearTimeout(queue.timer);
    const pauseMs = this.#getPauseMs(queue);
    if (pauseMs === 0) this.#connections.delete(queue.connection.connectionId);
    else queue.timer = setTimeout(() => this.#deleteIfIdle(queue), Math.ceil(pauseMs)).unref();
  }

  #getPauseMs({ pausedUntilMs }: ConnectionQueue): number {
    return Math.max(0, pausedUntilMs - this.#now());
  }
}

function createRateLimitError({ provider }: LimitedConnection, pauseMs: number): ProviderError {
  return new ProviderError(
    'RATE_LIMITED',
    `Too many requests of the connection are waiting for ${provider.displayName}.`,
    { retryAfterMs: Math.max(PAUSE_MS, Math.ceil(pauseMs)) },
  );
}
