/** Stores events: those of requests that come at the same time with one statement. */

import { PROVIDER_EVENTS_CHANNEL } from '../../database/changes/hint-channels.ts';
import type { Database } from '../../database/database.ts';
import type { ProviderEvent } from '../../providers/subscribing.ts';
import type { Services } from '../call.ts';

export interface EventOwner {
  providerAppId: string;
  projectId: string;
}

/** Of one statement, unless one request has more. */
const EVENTS_AT_ONCE = 2_000;

/**
 * One row for each subscription that wants the event; it is found by the app, the account and the object. An event
 * that is there already stays as it is. The hint is for the processes that do them.
 */
const STORE = `
  with stored as (
    insert into "ProviderEvent" ("projectId", "installationId", "objectName", "nativeId",
      "providerAppId", "recordId", "kind", "nativeType", "eventTime", "changedFields", "content")
    select s."projectId", s."installationId", s."objectName", e."nativeId",
      e."providerAppId", e."recordId", e."kind"::"ProviderEventKind", e."nativeType", e."eventTime",
      e."changedFields", e."content"
    from json_to_recordset($1::json) as e("place" int, "request" int, "projectId" text,
      "providerAppId" text, "account" text, "objectName" text, "nativeId" text, "recordId" text,
      "kind" text, "nativeType" text, "eventTime" timestamptz, "changedFields" text[], "content" jsonb)
    join "ObjectSubscription" s on s."projectId" = e."projectId"
      and s."providerAppId" = e."providerAppId" and s."account" = e."account"
      and s."objectName" = e."objectName" and s."isWanted"
    where e."kind" = any(s."kinds"::text[])
      and (e."kind" <> 'OTHER' or e."nativeType" = any(s."otherEvents"))
      and (e."kind" <> 'UPDATE' or cardinality(s."watchFields") = 0
        or cardinality(e."changedFields") = 0 or e."changedFields" && s."watchFields")
    order by e."place"
    on conflict do nothing
    returning 1
  )
  select count(*)::int as "stored", count(pg_notify('${PROVIDER_EVENTS_CHANNEL}', '')) as "hints"
  from stored`;

interface Waiting {
  owner: EventOwner;
  events: ProviderEvent[];
  resolve(stored: number): void;
  reject(error: unknown): void;
}

/** What comes while a statement is under way waits for it, and goes together with the next one. */
class EventStore {
  readonly #database: Database;
  #waiting: Waiting[] = [];
  #isStoring = false;

  constructor(database: Database) {
    this.#database = database;
  }

  add(owner: EventOwner, events: ProviderEvent[]): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ owner, events, resolve, reject });
      if (!this.#isStoring) void this.#store();
    });
  }

  async #store(): Promise<void> {
    this.#isStoring = true;
    while (this.#waiting.length > 0) {
      const requests = this.#takeSome();
      try {
        const stored = await this.#insert(requests);
        for (const { resolve } of requests) resolve(stored);
      } catch (error) {
        for (const { reject } of requests) reject(this.#database.outages.told(error));
      }
    }
    this.#isStoring = false;
  }

  #takeSome(): Waiting[] {
    let count = 0;
    const end = this.#waiting.findIndex(({ events }, index) => {
      count += events.length;
      return index > 0 && count > EVENTS_AT_ONCE;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  async #insert(requests: Waiting[]): Promise<number> {
    const rows = requests.flatMap(({ owner, events }) =>
      events.map(({ record, association, raw, time, ...event }) => ({
        ...owner,
        ...event,
        eventTime: time,
        content: { record, association, raw },
      })),
    );
    const placed = rows.map((row, place) => ({ ...row, place }));
    const [found] = await this.#database.rows.query<{ stored: number }>(STORE, [
      JSON.stringify(placed),
    ]);
    return found?.stored ?? 0;
  }
}

const STORES = new WeakMap<Database, EventStore>();

/** How many rows came of them, and of those that were stored together with them. */
export function storeEvents(
  { database }: Pick<Services, 'database'>,
  owner: EventOwner,
  events: ProviderEvent[],
): Promise<number> {
  const store = STORES.get(database) ?? new EventStore(database);
  STORES.set(database, store);
  return store.add(owner, events);
}
