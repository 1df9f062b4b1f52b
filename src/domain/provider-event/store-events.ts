/** Events as rows: one for each installation that wants one, however often it comes. */
import { randomUUID } from 'node:crypto';
import {
  type EventsToStore,
  STORE_PROVIDER_EVENTS,
} from '../../database/hot/store-provider-events.ts';
import { changeAndNotify, type Transaction } from '../../database/transaction.ts';
import type { ProviderEvent } from '../../providers/subscribing.ts';
import type { Services } from '../call.ts';
import { storableJson } from '../storable-json.ts';

type Owner = Pick<EventsToStore, 'projectId' | 'providerAppId'>;

/** Committed when it resolves. How many rows came of them. */
export async function storeAlone(
  { database }: Pick<Services, 'database'>,
  owner: Owner,
  events: ProviderEvent[],
): Promise<number> {
  const row = await database.changes.run(STORE_PROVIDER_EVENTS, toStore(owner, events));
  return row?.stored ?? 0;
}

/** The same as a part of a transaction. */
export async function storeWithin(
  tx: Transaction,
  owner: Owner,
  events: ProviderEvent[],
): Promise<number> {
  const { text } = STORE_PROVIDER_EVENTS;
  const values = JSON.stringify([toStore(owner, events)]);
  const [row] = await changeAndNotify<{ stored: number }>(tx, text, [values]);
  return row?.stored ?? 0;
}

function toStore(owner: Owner, events: ProviderEvent[]): EventsToStore {
  const rows = storableJson(events).map(({ record, association, raw, time, ...event }) => ({
    ...event,
    eventTime: time,
    content: { record, association, raw },
  }));
  return { id: randomUUID(), ...owner, events: rows };
}
