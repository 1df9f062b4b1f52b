/** Follows the streams of connections whose provider streams its events: each is followed by one worker at a time. */
import { workOn } from '../../../work/work-off.ts';
import type { Services } from '../../call.ts';
import { followStream } from './follow-stream.ts';
import { claimStreams, type ProviderStream } from './stream-lease.ts';

/** Of one process. */
const STREAMS_MAX = 1_000;
/** So that several processes that look at the same time share them. */
const CLAIMED_AT_ONCE = 10;
/** Between looks for other streams while some are followed. */
const LOOK_MS = 2_000;

/** Returns when there is none to follow. */
export async function followStreams(services: Services, signal: AbortSignal): Promise<void> {
  await workOn({
    claim: (followed) => claimSome(services, followed, signal),
    work: (stream) => followStream(services, stream, signal),
    lookMs: LOOK_MS,
  });
}

/** An outage of the database ends no stream that is followed: it is told by what they store. */
async function claimSome(
  services: Services,
  followed: number,
  signal: AbortSignal,
): Promise<ProviderStream[]> {
  const free = signal.aborted ? 0 : Math.min(STREAMS_MAX - followed, CLAIMED_AT_ONCE);
  if (free <= 0) return [];
  return claimStreams(services, free).catch((error: unknown) => {
    if (followed === 0) throw error;
    return [];
  });
}
