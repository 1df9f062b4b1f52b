/**
 * How fast providers are called: so many requests of a connection at once and in a second, a pause if
 * the provider requires one, and a bounded share for each project and each provider, so that a slow one
 * delays no other. In memory: each process keeps to the limits for itself.
 */
import type { Provider } from '../../providers/contract.ts';
import { ProviderError } from '../../providers/provider-error.ts';
import { HOUR_MS } from '../../work/durations.ts';
import { createTokenBuckets, type TokenBuckets } from '../../work/token-buckets.ts';

/** Requests at once to one provider, of one project to it, and reserved for projects that have none. */
const PROVIDER_CONCURRENCY = 72;
const PROJECT_CONCURRENCY = 32;
const RESERVED = 8;
/** Requests of one connection that may wait, and for how long: callers wait 30 s in all. */
const WAITING_MAX = 500;
const WAIT_MS_MAX = 20_000;
/** The pause after a refusal that names none, and the longest: after it the provider is called again. */
const REST_MS = 1_000;
const REST_MS_MAX = HOUR_MS;
/** Connections of a provider whose rate is remembered. */
const RATES_MAX = 5_000;

/** Whose request it is. */
export interface Caller {
  connectionId: string;
  projectId: string;
  provider: Pick<Provider, 'name' | 'displayName' | 'limits'>;
}

/** The requests of one connection. */
class Lane {
  readonly caller: Caller;
  readonly road: Road;
  running = 0;
  readonly waiting = new Set<() => void>();
  restUntil = 0;
  timer: NodeJS.Timeout | undefined;

  constructor(caller: Caller, road: Road) {
    this.caller = caller;
    this.road = road;
  }
}

/** The requests of all connections to one provider. */
class Road {
  readonly rates: TokenBuckets;
  running = 0;
  readonly runningOf = new Map<string, number>();
  /** Lanes that wait for room, the longest first. */
  readonly held = new Set<Lane>();

  constructor({ requestsPerSecond, concurrency }: Provider['limits'], now: () => number) {
    // No burst beyond what may run at once: providers count over short times too.
    const rate = { perSecond: requestsPerSecond, burst: concurrency, max: RATES_MAX };
    this.rates = createTokenBuckets(rate, now);
  }

  get isFull(): boolean {
    return this.running >= PROVIDER_CONCURRENCY;
  }

  hasRoomFor({ caller: { projectId } }: Lane): boolean {
    const ofProject = this.runningOf.get(projectId) ?? 0;
    if (this.isFull || ofProject === 0) return !this.isFull;
    // No more than is free for others, so that several greedy projects leave room for the next one.
    const free = PROVIDER_CONCURRENCY - this.running - RESERVED;
    return ofProject < Math.min(PROJECT_CONCURRENCY, free);
  }

  count({ caller: { projectId } }: Lane, change: 1 | -1): void {
    this.running += change;
    const ofProject = (this.runningOf.get(projectId) ?? 0) + change;
    if (ofProject > 0) this.runningOf.set(projectId, ofProject);
    else this.runningOf.delete(projectId);
  }
}

export class ProviderLimits {
  readonly #now: () => number;
  readonly #lanes = new Map<string, Lane>();
  readonly #roads = new Map<string, Road>();

  /** `now` in milliseconds, of a clock that never jumps. */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Runs the work in its turn. Throws RATE_LIMITED, with nothing run, if that is too far away. */
  async run<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    const lane = this.#laneOf(caller);
    await this.#turn(lane);
    try {
      return await work();
    } finally {
      this.#finish(lane);
    }
  }

  /** Starts nothing more of the connection for this long. */
  rest(caller: Caller, ms: number | null): void {
    const lane = this.#laneOf(caller);
    const until = this.#now() + Math.min(ms ?? REST_MS, REST_MS_MAX);
    lane.restUntil = Math.max(lane.restUntil, until);
    this.#forgetIdle(lane);
  }

  #laneOf(caller: Caller): Lane {
    const { connectionId } = caller;
    const lane = this.#lanes.get(connectionId) ?? new Lane(caller, this.#roadOf(caller));
    this.#lanes.set(connectionId, lane);
    return lane;
  }

  #roadOf({ provider: { name, limits } }: Caller): Road {
    const road = this.#roads.get(name) ?? new Road(limits, this.#now);
    this.#roads.set(name, road);
    return road;
  }

  #turn(lane: Lane): Promise<void> {
    if (this.#restMs(lane) > WAIT_MS_MAX || lane.waiting.size >= WAITING_MAX) {
      return Promise.reject(rateLimited(lane.caller, this.#restMs(lane)));
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const deadline = setTimeout(() => {
      lane.waiting.delete(start);
      reject(rateLimited(lane.caller, this.#restMs(lane)));
      this.#forgetIdle(lane);
    }, WAIT_MS_MAX);
    const start = () => {
      clearTimeout(deadline);
      resolve();
    };
    lane.waiting.add(start);
    this.#advance(lane);
    return promise;
  }

  /** Starts what may start; the rest starts when another ends, or when its time has come. */
  #advance(lane: Lane): void {
    const { road, waiting, caller } = lane;
    road.held.delete(lane);
    for (const start of waiting) {
      if (lane.running >= caller.provider.limits.concurrency) return;
      if (!road.hasRoomFor(lane)) {
        road.held.add(lane);
        return;
      }
      const waitMs = this.#restMs(lane) || road.rates.take(caller.connectionId) * 1_000;
      if (waitMs > 0) {
        clearTimeout(lane.timer);
        lane.timer = setTimeout(() => this.#advance(lane), Math.ceil(waitMs));
        return;
      }
      waiting.delete(start);
      lane.running += 1;
      road.count(lane, 1);
      start();
    }
  }

  #finish(lane: Lane): void {
    const { road } = lane;
    lane.running -= 1;
    road.count(lane, -1);
    // Those that were held come first: a lane that is never empty would keep its place for itself.
    for (const held of [...road.held]) {
      if (road.isFull) break;
      this.#advance(held);
    }
    this.#advance(lane);
    this.#forgetIdle(lane);
  }

  #forgetIdle(lane: Lane): void {
    if (lane.running > 0 || lane.waiting.size > 0) return;
    clearTimeout(lane.timer);
    const restMs = this.#restMs(lane);
    if (restMs === 0) this.#lanes.delete(lane.caller.connectionId);
    else lane.timer = setTimeout(() => this.#forgetIdle(lane), Math.ceil(restMs)).unref();
  }

  #restMs({ restUntil }: Lane): number {
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
