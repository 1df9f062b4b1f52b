/** The schema for vendors whose webhook only notifies of changes. The gateway reads the changes from a list. */
import { z } from 'zod';
import { PROVIDER_EVENT_KINDS } from '../../subscribing.ts';
import { webhookAuthentication } from './events-declaration.ts';
import { jsonObject, pathTemplate, pointer, timeFormat } from './request-location.ts';

/** A request for one webhook, whose id is `{webhookId}`. */
const webhookRequest = z.strictObject({ path: pathTemplate, body: jsonObject.optional() });

/** The webhook that notifies of changes. Each connection has one, because vendors allow few. */
const webhook = z.strictObject({
  /** A POST to this path creates the webhook. `{url}` in the body is replaced. */
  path: pathTemplate,
  body: jsonObject,
  /** Where the response holds the vendor's id of the webhook and the secret that signs its requests. */
  id: pointer,
  secret: pointer,
  /** The list of webhooks, at the same path. */
  list: z.strictObject({
    records: pointer,
    id: pointer,
    url: pointer,
    /** True while the webhook records changes. */
    isActive: pointer,
    /** True while the webhook sends notifications. It may stop after failures. */
    isNotifying: pointer,
  }),
  /** Extends the webhook. */
  renew: webhookRequest,
  /** Restarts notifications. */
  resume: webhookRequest,
  /** Deletes the webhook, by DELETE. */
  remove: z.strictObject({ path: pathTemplate }),
});

/** The list of changes. Its entries are numbered. */
const entries = z.strictObject({
  /** `{webhookId}` is the id of the webhook. */
  path: pathTemplate,
  records: pointer,
  /** The parameter with the number of the first entry. */
  startParameter: z.string(),
  size: z.strictObject({ name: z.string(), max: z.int().positive() }),
  /** Where the response holds the number of the next entry, and whether more entries may follow. */
  next: pointer,
  hasMore: pointer,
  /** Where an entry holds its time. */
  time: z.strictObject({ at: pointer, format: timeFormat }),
  /** Entries with a value here lack some changes, which the vendor cannot list. */
  gapMarker: pointer,
  /** The member of an entry that maps objects by name. */
  objects: z.string(),
  /** The members of an object with changed records: each is a map by record id, or a list of ids. */
  changes: z.record(z.string(), z.enum(PROVIDER_EVENT_KINDS)),
});

export const eventList = z.strictObject({
  authentication: webhookAuthentication,
  webhook,
  entries,
});
export type EventListDeclaration = z.output<typeof eventList>;
