/** Work that is done for each group of projects apart, as groups come and go. */
import { setTimeout as wait } from 'node:timers/promises';
import type { ProjectGroup } from '../database/projects/project-groups.ts';
import type { Services } from '../domain/call.ts';
import { Outage } from '../work/outage.ts';

/** Between looks for servers that have come or gone. */
const LOOK_MS = 10_000;

/**
 * `start` begins the work of one group, by services whose database means this group where all projects are asked.
 * What it returns ends the work.
 */
export async function startByGroup<S extends Services>(
  services: S,
  start: (ofGroup: S) => AsyncDisposable,
): Promise<AsyncDisposable> {
  const running = new Map<string, AsyncDisposable>();
  const outage = new Outage(services.log, 'project_groups.unreadable');
  const stopping = new AbortController();
  const follow = async () => {
    const groups = await services.database.groups();
    const gone = new Set(running.keys());
    for (const group of groups) {
      gone.delete(group.name);
      if (running.has(group.name) || stopping.signal.aborted) continue;
      running.set(group.name, start(servicesOf(services, group)));
    }
    for (const name of gone) {
      void running.get(name)?.[Symbol.asyncDispose]();
      running.delete(name);
    }
  };
  await follow();
  const following = (async () => {
    const { signal } = stopping;
    while (!signal.aborted) {
      await wait(LOOK_MS, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted) await outage.watch(follow);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      const ended = [...running.values()].map((one) => one[Symbol.asyncDispose]());
      await Promise.all([following, ...ended]);
    },
  };
}

/** Whose database means the group where all projects are asked. */
export function servicesOf<S extends Services>(services: S, group: ProjectGroup): S {
  if (group === services.database.group) return services;
  return { ...services, database: { ...services.database, group } };
}
