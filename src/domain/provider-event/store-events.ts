/** Stores events. Each installation that needs an event gets one row, however often the provider sends it. */
import { randomUUID } from 'node:crypto';
import {
  type EventsToStore,
  STORE_PROVIDER_EVENTS,
} from '../../database/hot/store-provider-events.ts';
import { changeAndNotify, type Transaction } from '../../database/transaction.ts';
import type { ProviderEvent } from '../../providers/subscribing.ts';
import type { Services } from '../call.ts';
import { toStorableJson } from '../storable-json.ts';

type Owner = Pick<EventsToStore, 'projectId' | 'providerAppId'>;

/** Stores events in a separate transaction. Returns the number of new rows. */
export async function storeInOwnTransaction(
  { database }: Pick<Services, 'database'>,
  owner: Owner,
  events: ProviderEvent[],
): Promise<number> {
  const row = await database.changes.run(STORE_PROVIDER_EVENTS, createEventsToStore(owner, events));
  return row?.stored ?? 0;
}

/** Stores events within a transaction. Returns the number of new rows. */
export async function storeInTransaction(
  tx: Transaction,
  owner: Owner,
  events: ProviderEvent[],
): Promise<number> {
  const { text } = STORE_PROVIDER_EVENTS;
  const values = JSON.stringify([createEventsToStore(owner, events)]);
  const [row] = await changeAndNotify<{ stored: number }>(tx, text, [values]);
  return row?.stored ?? 0;
}

function createEventsToStore(owner: Owner, events: ProviderEvent[]): EventsToStore {
  const rows = toStorableJson(events).map(({ record, association, raw, time, ...event }) => ({
    ...event,
    eventTime: time,
    content: { record, association, raw },
  }));
  return { id: randomUUID(), ...owner, events: rows };
}
