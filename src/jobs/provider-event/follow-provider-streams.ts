import { SUBSCRIPTIONS_CHANNEL } from '../../database/changes/hint-channels.ts';
import { followStreams } from '../../domain/provider-event/stream/follow-streams.ts';
import type { Sweep } from '../job-worker.ts';

/** Runs as long as this process follows a stream. */
export const followProviderStreamsSweep: Sweep = {
  name: 'streams of providers',
  intervalMs: 2_000,
  channel: SUBSCRIPTIONS_CHANNEL,
  // While somebody follows it, it is due when the lease ends.
  earliest: (isAsked) => `select min(greatest("dueTime", "leaseExpireTime")) from "ProviderStream"
    where ${isAsked('"projectId"')}`,
  run: followStreams,
};
