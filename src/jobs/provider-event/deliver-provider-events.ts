import { PROVIDER_EVENTS_CHANNEL } from '../../database/changes/hint-channels.ts';
import { deliverProviderEvents } from '../../domain/provider-event/deliver.ts';
import type { Sweep } from '../job-worker.ts';

export const deliverProviderEventsSweep: Sweep = {
  name: 'provider events',
  intervalMs: 5_000,
  channel: PROVIDER_EVENTS_CHANNEL,
  earliest: (isAsked) => `select now() from "ProviderEvent"
    where ${isAsked('"projectId"')} and "doneTime" is null limit 1`,
  run: deliverProviderEvents,
};
