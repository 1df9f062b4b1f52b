/**
 * Bounds the requests to providers: at the same time and per second for each connection, with a pause if the provider
 * requires one, and at the same time for each project, each provider and the process. A provider that is slow therefore
 * delays no other provider, and a project no other project. The counts are in memory: each process has its own.
 */
import type { Provider } from '../../providers/contract.ts';
import { ProviderError } from '../../providers/provider-error.ts';
import { HOUR_MS } from '../../work/durations.ts';
import { createTokenBuckets, type TokenBuckets } from '../../work/token-buckets.ts';

interface CapacityLimits {
  max: number;
  projectMax: number;
  /** For projects that have no request under way. */
  reserved: number;
}

/** Requests at the same time to one provider. */
const TO_PROVIDER: CapacityLimits = { max: 72, projectMax: 32, reserved: 8 };
/** To all providers. The process has 256 sockets for them; the rest is for requests for tokens. */
const OF_PROCESS: CapacityLimits = { max: 224, projectMax: 96, reserved: 24 };
/** Requests of one connection that may wait, and for how long: callers wait 30 s in all. */
const WAITING_MAX = 500;
const WAIT_MS_MAX = 20_000;
/** The pause after a refusal that names none, and the longest: after it the provider is called again. */
const REST_MS = 1_000;
const REST_MS_MAX = HOUR_MS;
/** Connections of a provider whose rate is remembered. */
const RATES_MAX = 5_000;

/** The connection that a request uses. */
export interface Caller {
  connectionId: string;
  projectId: string;
  provider: Pick<Provider, 'name' | 'displayName' | 'limits'>;
}

/** Requests at the same time, bounded in all and for each project. */
class Capacity {
  readonly #limits: CapacityLimits;
  readonly #runningOf = new Map<string, number>();
  #running = 0;

  constructor(limits: CapacityLimits) {
    this.#limits = limits;
  }

  get isFull(): boolean {
    return this.#running >= this.#limits.max;
  }

  isOpenTo({ projectId }: Caller): boolean {
    const { max, projectMax, reserved } = this.#limits;
    const ofProject = this.#runningOf.get(projectId) ?? 0;
    if (this.isFull || ofProject === 0) return !this.isFull;
    // No more than is free for others, so that several greedy projects leave room for the next one.
    return ofProject < Math.min(projectMax, max - this.#running - reserved);
  }

  count({ projectId }: Caller, change: 1 | -1): void {
    this.#running += change;
    const ofProject = (this.#runningOf.get(projectId) ?? 0) + change;
    if (ofProject > 0) this.#runningOf.set(projectId, ofProject);
    else this.#runningOf.delete(projectId);
  }
}

/** The requests of one connection. */
class ConnectionQueue {
  readonly caller: Caller;
  readonly provider: ProviderQueue;
  running = 0;
  readonly waiting = new Set<() => void>();
  restUntil = 0;
  timer: NodeJS.Timeout | undefined;

  constructor(caller: Caller, provider: ProviderQueue) {
    this.caller = caller;
    this.provider = provider;
  }
}

/** The requests of all connections to one provider. */
class ProviderQueue {
  readonly rates: TokenBuckets;
  readonly room = new Capacity(TO_PROVIDER);
  /** Queues of connections that wait for room, the longest first. */
  readonly held = new Set<ConnectionQueue>();

  constructor({ requestsPerSecond, concurrency }: Provider['limits'], now: () => number) {
    // No burst beyond what may run at the same time: providers count over short times too.
    const rate = { perSecond: requestsPerSecond, burst: concurrency, max: RATES_MAX };
    this.rates = createTokenBuckets(rate, now);
  }
}

export class ProviderLimits {
  readonly #now: () => number;
  readonly #connections = new Map<string, ConnectionQueue>();
  readonly #providers = new Map<string, ProviderQueue>();
  readonly #room = new Capacity(OF_PROCESS);
  /** Queues that wait for room in the process, the longest first. */
  readonly #held = new Set<ConnectionQueue>();

  /** `now` in milliseconds, of a clock that never jumps. */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Runs the work in its turn. Throws RATE_LIMITED, with nothing run, if that is too far away. */
  async run<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    const queue = this.#queueOf(caller);
    await this.#turn(queue);
    try {
      return await work();
    } finally {
      this.#finish(queue);
    }
  }

  /** Starts nothing more of the connection for this long. */
  rest(caller: Caller, ms: number | null): void {
    const queue = this.#queueOf(caller);
    const until = this.#now() + Math.min(ms ?? REST_MS, REST_MS_MAX);
    queue.restUntil = Math.max(queue.restUntil, until);
    this.#forgetIdle(queue);
  }

  #queueOf(caller: Caller): ConnectionQueue {
    const { connectionId } = caller;
    const queue =
      this.#connections.get(connectionId) ?? new ConnectionQueue(caller, this.#providerOf(caller));
    this.#connections.set(connectionId, queue);
    return queue;
  }

  #providerOf({ provider: { name, limits } }: Caller): ProviderQueue {
    const provider = this.#providers.get(name) ?? new ProviderQueue(limits, this.#now);
    this.#providers.set(name, provider);
    return provider;
  }

  #turn(queue: ConnectionQueue): Promise<void> {
    if (this.#restMs(queue) > WAIT_MS_MAX || queue.waiting.size >= WAITING_MAX) {
      return Promise.reject(rateLimited(queue.caller, this.#restMs(queue)));
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const deadline = setTimeout(() => {
      queue.waiting.delete(start);
      reject(rateLimited(queue.caller, this.#restMs(queue)));
      this.#forgetIdle(queue);
    }, WAIT_MS_MAX);
    const start = () => {
      clearTimeout(deadline);
      resolve();
    };
    queue.waiting.add(start);
    this.#advance(queue);
    return promise;
  }

  /** Starts what may start; the rest starts when another request is over, or when its time has come. */
  #advance(queue: ConnectionQueue): void {
    const { provider, waiting, caller } = queue;
    provider.held.delete(queue);
    this.#held.delete(queue);
    for (const start of waiting) {
      if (queue.running >= caller.provider.limits.concurrency) return;
      if (!provider.room.isOpenTo(caller)) {
        provider.held.add(queue);
        return;
      }
      if (!this.#room.isOpenTo(caller)) {
        this.#held.add(queue);
        return;
      }
      const waitMs = this.#restMs(queue) || provider.rates.take(caller.connectionId) * 1_000;
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
    const { room, held } = queue.provider;
    this.#count(queue, -1);
    // Queues that were held come first: one that is never empty would keep its room for itself.
    this.#advanceHeld(room, held);
    this.#advanceHeld(this.#room, this.#held);
    this.#advance(queue);
    this.#forgetIdle(queue);
  }

  #advanceHeld(room: Capacity, held: Set<ConnectionQueue>): void {
    for (const queue of [...held]) {
      if (room.isFull) return;
      this.#advance(queue);
    }
  }

  #count(queue: ConnectionQueue, change: 1 | -1): void {
    queue.running += change;
    queue.provider.room.count(queue.caller, change);
    this.#room.count(queue.caller, change);
  }

  #forgetIdle(queue: ConnectionQueue): void {
    if (queue.running > 0 || queue.waiting.size > 0) return;
    clearTimeout(queue.timer);
    const restMs = this.#restMs(queue);
    if (restMs === 0) this.#connections.delete(queue.caller.connectionId);
    else queue.timer = setTimeout(() => this.#forgetIdle(queue), Math.ceil(restMs)).unref();
  }

  #restMs({ restUntil }: ConnectionQueue): number {
    return Math.max(0, restUntil - this.#now());
  }
}

function rateLimited({ provider }: Caller, restMs: number): ProviderError {
  return new ProviderError(
    'RATE_LIMITED',
    `Too many requests of the connection wait for ${provider.displayName} already.`,
    { retryAfterMs: Math.max(REST_MS, Math.ceil(restMs)) },
  );
}
