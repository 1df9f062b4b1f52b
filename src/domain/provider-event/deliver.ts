/**
 * Does stored events: what they owe and that they are done commit together. Events of one subscription are done by
 * one worker at a time, in the order of their times; other subscriptions go on beside it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Services } from '../call.ts';
import { claimWaiting } from './event-lease.ts';
import { doEvents } from './event-slice.ts';

/** Subscriptions of one process whose events are done at the same time. */
const AT_ONCE = 16;
/** Between looks for other subscriptions' events while some are under way. */
const LOOK_MS = 100;

/** Does all that waits, and returns when nothing is left. */
export async function deliverProviderEvents(
  services: Services,
  signal: AbortSignal,
): Promise<void> {
  const running = new Set<Promise<void>>();
  do {
    const free = signal.aborted ? 0 : AT_ONCE - running.size;
    const claimed = free > 0 ? await claimWaiting(services, free) : [];
    for (const subscription of claimed) {
      const work = doEvents(services, subscription, signal).finally(() => running.delete(work));
      running.add(work);
    }
    if (running.size > 0) await Promise.race([...running, delay(LOOK_MS)]);
  } while (running.size > 0);
}
