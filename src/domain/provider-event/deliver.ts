/**
 * Does stored events: what they owe and that they are done commit together. Events of one subscription are done by
 * one worker at a time, in the order of their times; other subscriptions go on beside it.
 */
import { workOn } from '../../work/work-off.ts';
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
  await workOn({
    claim: async (underWay) => {
      const free = signal.aborted ? 0 : AT_ONCE - underWay;
      return free > 0 ? claimWaiting(services, free) : [];
    },
    work: (subscription) => doEvents(services, subscription, signal),
    lookMs: LOOK_MS,
  });
}
