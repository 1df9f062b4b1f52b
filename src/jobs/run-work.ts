/** Runs the background work of a process: once for each shard group, so that no shard group waits for another's server. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/open/database.ts';
import type { ShardGroup } from '../database/statements/projects/shard-groups.ts';
import type { Config } from '../settings/config.ts';
import { endWithin, getStopWorkMs } from '../work/deadline.ts';
import { Outage } from '../work/outage.ts';
import { DueAlarm, type DueWork } from './due-alarm.ts';
import { LeasedLoop } from './leased-loop.ts';
import type { LeasedWork, WorkServices } from './leased-work.ts';
import { runUpkeep, type Upkeep } from './upkeep-loop.ts';
import type { Workers } from './workers.ts';

/** The services of a process that runs work. */
interface ProcessServices extends WorkServices {
  config: Config;
  workers: Workers;
}

export interface BackgroundWork<S extends ProcessServices> {
  leased: readonly LeasedWork<object, S>[];
  /** In the order of the first runs. */
  upkeep: readonly Upkeep<S>[];
  /** Starts work with a loop of its own. */
  startAdditional?: (services: S) => AdditionalWork;
}

export interface AdditionalWork extends AsyncDisposable {
  watched: readonly DueWork[];
}

/** The interval between checks for added and removed shard groups. */
const POLL_MS = 10_000;

/**
 * Starts the work of each shard group. Disposal ends claims, and waits for running work for at most a part of
 * SHUTDOWN_MS.
 */
export async function runWork<S extends ProcessServices>(
  services: S,
  work: BackgroundWork<NoInfer<S>>,
): Promise<AsyncDisposable> {
  const running = new Map<string, AsyncDisposable>();
  const outage = new Outage(services.log, 'shard_groups.unreadable');
  const stopping = new AbortController();
  const followShardGroups = async () => {
    const shardGroups = await services.database.listShardGroups();
    const removedNames = new Set(running.keys());
    for (const shardGroup of shardGroups) {
      removedNames.delete(shardGroup.name);
      if (running.has(shardGroup.name) || stopping.signal.aborted) continue;
      running.set(shardGroup.name, runInShardGroup(limitToShardGroup(services, shardGroup), work));
    }
    for (const name of removedNames) {
      void running.get(name)?.[Symbol.asyncDispose]();
      running.delete(name);
    }
  };
  await followShardGroups();
  const following = (async () => {
    const { signal } = stopping;
    while (!signal.aborted) {
      await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted) await outage.watch(followShardGroups);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      const stops = [...running.values()].map((item) => item[Symbol.asyncDispose]());
      await Promise.all([following, ...stops]);
    },
  };
}

function runInShardGroup<S extends ProcessServices>(
  services: S,
  { leased, upkeep, startAdditional }: BackgroundWork<S>,
): AsyncDisposable {
  const additional = startAdditional?.(services);
  const stopping = new AbortController();
  const alarm = new DueAlarm(services, additional?.watched);
  const loops = leased.map((work) => {
    const loop = new LeasedLoop(services, work, () => alarm.checkSoon());
    loop.start(alarm);
    return { registration: services.workers.add(work, services.database.shardGroup, loop), loop };
  });
  const upkeeping = runUpkeep(services, upkeep, { alarm, signal: stopping.signal });
  alarm.start();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      for (const { registration } of loops) registration[Symbol.dispose]();
      const ends = [alarm, ...loops.map(({ loop }) => loop)].map((item) =>
        item[Symbol.asyncDispose](),
      );
      const ended = endWithin(Promise.all([upkeeping, ...ends]), getStopWorkMs(services.config));
      // Both stop in parallel, so that each has the full time.
      await Promise.all([additional?.[Symbol.asyncDispose](), ended]);
    },
  };
}

/** Returns services whose statements across projects are limited to the shard group. */
export function limitToShardGroup<S extends { database: Database }>(
  services: S,
  shardGroup: ShardGroup,
): S {
  if (shardGroup === services.database.shardGroup) return services;
  return { ...services, database: { ...services.database, shardGroup } };
}
