import { SUBSCRIPTIONS_CHANNEL } from '../../database/changes/hint-channels.ts';
import { lookAfterSubscriptions } from '../../domain/provider-event/set-up.ts';
import type { Sweep } from '../job-worker.ts';

export const lookAfterSubscriptionsSweep: Sweep = {
  name: 'subscriptions at providers',
  intervalMs: 5_000,
  channel: SUBSCRIPTIONS_CHANNEL,
  earliest: (isAsked) => `select min("dueTime") from "ObjectSubscription"
    where ${isAsked('"projectId"')} and "dueTime" is not null`,
  run: lookAfterSubscriptions,
};
