/** Waits while too many events are undelivered. The provider keeps further events in the meantime. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Services } from '../../call.ts';
import { isEventBacklogged } from '../event-backlog.ts';
import type { FollowedSource } from './followed-source.ts';

/** The interval between checks of the backlog. */
const CAPACITY_POLL_MS = 1_000;

export async function waitForCapacity(
  services: Services,
  { stream: { projectId }, appIds }: FollowedSource,
  signal: AbortSignal,
): Promise<void> {
  const isFull = async () => {
    for (const providerAppId of appIds) {
      if (await isEventBacklogged(services, { projectId, providerAppId })) return true;
    }
    return false;
  };
  while (!signal.aborted && (await isFull())) {
    await delay(CAPACITY_POLL_MS, undefined, { signal }).catch(() => {});
  }
}
