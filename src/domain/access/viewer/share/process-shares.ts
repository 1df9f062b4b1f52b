/**
 * Divides the capacity of a process between callers, projects and connections. RATE_LIMITED means that the caller has
 * exhausted its share, and SERVICE_UNAVAILABLE that the process is full. Both errors name the limit.
 */

import type { Outages } from '../../../../database/connect/outages.ts';
import { DomainError, type ServiceUnavailable } from '../../../../kernel/errors.ts';
import type { Meters } from '../../../../kernel/meters.ts';
import type { Config } from '../../../../settings/config.ts';
import {
  BoundedShares,
  type ExhaustedLimit,
  type Holder,
  type ShareLevel,
} from '../../../../work/bounded-shares.ts';
import { Pacer } from '../../../../work/pace.ts';
import { Turns } from '../../../../work/turns.ts';
import { findProjectId, type Viewer } from '../viewer.ts';

/** Most running requests end within this time. */
const RETRY_AFTER_SECONDS = 1;

/** The number of objects of heavy operations that one turn of the event loop completes, in about 0.2 ms. */
const ITEMS_PER_TURN = 40;

type Setting = Extract<keyof Config, `LIMIT_${string}`>;

/** The shared resources, with the settings that limit them. */
const SETTINGS = {
  requests: {
    description: 'requests',
    process: 'LIMIT_REQUESTS',
    project: 'LIMIT_PROJECT_REQUESTS',
    caller: 'LIMIT_CALLER_REQUESTS',
  },
  providerRequests: {
    description: 'requests that wait for a provider',
    process: 'LIMIT_PROVIDER_REQUESTS',
    project: 'LIMIT_PROJECT_PROVIDER_REQUESTS',
    caller: 'LIMIT_CALLER_PROVIDER_REQUESTS',
    connection: 'LIMIT_CONNECTION_REQUESTS',
  },
  sockets: {
    description: 'WebSockets',
    process: 'LIMIT_SOCKETS',
    project: 'LIMIT_PROJECT_SOCKETS',
    caller: 'LIMIT_CALLER_SOCKETS',
  },
  subscriptions: {
    description: 'subscriptions',
    process: 'LIMIT_PROCESS_SUBSCRIPTIONS',
    project: 'LIMIT_PROJECT_SUBSCRIPTIONS',
    caller: 'LIMIT_SUBSCRIPTIONS',
  },
} as const satisfies Record<
  string,
  { description: string } & Partial<Record<ExhaustedLimit, Setting>>
>;

type ShareName = keyof typeof SETTINGS;

const LEVELS: readonly ShareLevel[] = ['caller', 'project', 'connection'];

/**
 * Returns the holder of a viewer's shares. All tokens of an end user count as one caller. A builder belongs to no
 * project, so it counts as a project of its own.
 */
export function toHolder(viewer: Viewer): { caller: string; project: string } {
  return { caller: viewer.id, project: findProjectId(viewer) ?? viewer.id };
}

export class ProcessShares {
  readonly turns: Turns;
  /** Spreads the completion and serialization of heavy results over turns of the event loop. */
  readonly pacer = new Pacer(ITEMS_PER_TURN);
  readonly #shares: Record<ShareName, BoundedShares>;
  readonly #config: Config;
  readonly #meters: Meters;
  readonly #outages: Pick<Outages, 'replaceTimeoutError'>;

  constructor(config: Config, meters: Meters, outages: Pick<Outages, 'replaceTimeoutError'>) {
    this.#config = config;
    this.#meters = meters;
    this.#outages = outages;
    this.#shares = {
      requests: createShares(config, 'requests'),
      providerRequests: createShares(config, 'providerRequests'),
      sockets: createShares(config, 'sockets'),
      subscriptions: createShares(config, 'subscriptions'),
    };
    this.turns = new Turns({
      runningMax: config.LIMIT_RUNNING,
      heavyWeight: toWeight(config, config.LIMIT_HEAVY_COST),
      heavyMax: config.LIMIT_HEAVY,
      callerHeavyMax: config.LIMIT_CALLER_HEAVY,
      waitMs: config.LIMIT_TURN_MS,
    });
  }

  get(name: ShareName): BoundedShares {
    return this.#shares[name];
  }

  /** Returns the current use of the shares, with names in the style of metrics. */
  readState() {
    const shares = Object.entries(this.#shares).map(([name, share]) => ({
      name: name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      held: share.held,
      max: share.max,
      largest: share.listLargest(),
    }));
    const { running, heavy } = this.turns.readUse();
    shares.push(
      { name: 'running', ...running, largest: [] },
      {
        name: 'heavy_operations',
        ...heavy,
        largest: [{ level: 'caller', held: heavy.callerHeld }],
      },
    );
    return { shares, waiting: this.turns.waiting };
  }

  /** Takes one unit of a share, or takes nothing and throws RATE_LIMITED or SERVICE_UNAVAILABLE. */
  take(name: ShareName, holder: Holder): void {
    const exhaustedLimit = this.#shares[name].take(holder);
    if (exhaustedLimit) throw this.createLimitError(name, exhaustedLimit);
  }

  /** Throws the error that `take` would throw, and takes nothing. */
  requireUnit(name: ShareName, holder: Holder): void {
    const exhaustedLimit = this.#shares[name].findExhausted(holder);
    if (exhaustedLimit) throw this.createLimitError(name, exhaustedLimit);
  }

  createLimitError(name: ShareName, exhaustedLimit: ExhaustedLimit): DomainError {
    const settings: { description: string } & Partial<Record<ExhaustedLimit, Setting>> =
      SETTINGS[name];
    const limit = settings[exhaustedLimit] ?? settings.process;
    if (!limit) throw new Error(`Bug: the share ${name} has no limit of a ${exhaustedLimit}.`);
    const { max } = this.#shares[name];
    const detail =
      exhaustedLimit === 'process'
        ? `The process has reached its limit of ${max} ${settings.description} (${limit}).`
        : `This ${exhaustedLimit} has reached its share of ${settings.description}: at most ${this.#config[limit]} (${limit}), and at most as many as remain free for others.`;
    return this.#createError(detail, limit, exhaustedLimit === 'process');
  }

  /** Returns the error for a request of an unknown caller whose network has no share left. */
  createUnknownCallersError(): DomainError {
    const detail =
      'The process has reached its limit (LIMIT_REQUESTS) of requests from this network whose callers are not identified yet.';
    return this.#createError(detail, 'LIMIT_REQUESTS', true);
  }

  /**
   * Returns the error for work that waited too long for its turn: RATE_LIMITED if the caller has more requests than the
   * average caller or is the only one, and SERVICE_UNAVAILABLE if the process is too busy. During an outage of the
   * database, returns the error of the outage, because the work before this one waits for the database.
   */
  createTurnTimeoutError({ caller }: { caller: string }): DomainError | ServiceUnavailable {
    const { requests } = this.#shares;
    const callerCount = requests.countHolders('caller');
    const isCallerResponsible =
      callerCount === 1 || requests.countHeldBy('caller', caller) * callerCount > requests.held;
    const { LIMIT_TURN_MS: ms } = this.#config;
    const detail = isCallerResponsible
      ? `The request waited ${ms} ms (LIMIT_TURN_MS) behind other requests of this caller.`
      : `The process is busy. The request waited ${ms} ms (LIMIT_TURN_MS) for its turn.`;
    const error = this.#createError(detail, 'LIMIT_TURN_MS', !isCallerResponsible);
    return this.#outages.replaceTimeoutError(error);
  }

  #createError(detail: string, limit: Setting, isProcessFull: boolean): DomainError {
    this.#meters.limitRefused(limit.slice('LIMIT_'.length).toLowerCase());
    return new DomainError(
      isProcessFull ? 'SERVICE_UNAVAILABLE' : 'RATE_LIMITED',
      `${detail} Nothing was done. Try again after Retry-After.`,
      { limit, retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  }
}

function createShares(config: Config, name: ShareName): BoundedShares {
  const settings: Partial<Record<ShareLevel, Setting>> & { process: Setting } = SETTINGS[name];
  const levels = LEVELS.flatMap((level) => {
    const setting = settings[level];
    return setting ? [{ level, max: Number(config[setting]) }] : [];
  });
  return new BoundedShares({ process: Number(config[settings.process]), levels });
}

/**
 * Returns the weight of an operation: the number of requests that it counts as in the caller's rate. The weight also
 * determines how long its turn is.
 */
export function toWeight(
  { LIMIT_COST_PER_REQUEST }: Pick<Config, 'LIMIT_COST_PER_REQUEST'>,
  cost: number,
): number {
  return Math.max(1, Math.ceil(cost / LIMIT_COST_PER_REQUEST));
}
