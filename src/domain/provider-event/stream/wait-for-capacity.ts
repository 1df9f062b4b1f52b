/** Of a project whose events wait: until there is room, the provider keeps what comes next. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Services } from '../../call.ts';
import { isEventBacklogged } from '../event-backlog.ts';
import type { Followed } from './followed.ts';

/** Until it is looked again whether a full project can take more. */
const CAPACITY_POLL_MS = 1_000;

export async function waitForCapacity(
  services: Services,
  { stream: { projectId }, apps }: Followed,
  signal: AbortSignal,
): Promise<void> {
  const isFull = async () => {
    for (const providerAppId of apps) {
      if (await isEventBacklogged(services, { projectId, providerAppId })) return true;
    }
    return false;
  };
  while (!signal.aborted && (await isFull())) {
    await delay(CAPACITY_POLL_MS, undefined, { signal }).catch(() => {});
  }
}
