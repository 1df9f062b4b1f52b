/** Runs background work separately for each shard group, and follows groups that are added and removed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProjectGroup } from '../database/projects/project-groups.ts';
import type { Services } from '../domain/call.ts';
import { Outage } from '../work/outage.ts';

/** The interval between checks for added and removed shard groups. */
const POLL_MS = 10_000;

/**
 * Starts the work of each shard group. `start` starts the work of one group, with services whose database is limited to
 * it, and returns a resource whose disposal ends the work.
 */
export async function startByGroup<S extends Services>(
  services: S,
  start: (groupServices: S) => AsyncDisposable,
): Promise<AsyncDisposable> {
  const running = new Map<string, AsyncDisposable>();
  const outage = new Outage(services.log, 'project_groups.unreadable');
  const stopping = new AbortController();
  const followGroups = async () => {
    const groups = await services.database.groups();
    const removedNames = new Set(running.keys());
    for (const group of groups) {
      removedNames.delete(group.name);
      if (running.has(group.name) || stopping.signal.aborted) continue;
      running.set(group.name, start(limitToGroup(services, group)));
    }
    for (const name of removedNames) {
      void running.get(name)?.[Symbol.asyncDispose]();
      running.delete(name);
    }
  };
  await followGroups();
  const following = (async () => {
    const { signal } = stopping;
    while (!signal.aborted) {
      await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted) await outage.watch(followGroups);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      const stops = [...running.values()].map((work) => work[Symbol.asyncDispose]());
      await Promise.all([following, ...stops]);
    },
  };
}

/** Returns services whose statements across projects are limited to the shard group. */
export function limitToGroup<S extends Services>(services: S, group: ProjectGroup): S {
  if (group === services.database.group) return services;
  return { ...services, database: { ...services.database, group } };
}
