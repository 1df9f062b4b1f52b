/** How a vendor tells that something has changed, and where it lists what: its requests say no more than the first. */
import { z } from 'zod';
import { PROVIDER_EVENT_KINDS } from '../../subscribing.ts';
import { proof } from './events-declaration.ts';
import { json, path, pointer, timeFormat } from './place.ts';

/** A request about one webhook, whose id is `{ref}`. */
const about = z.strictObject({ path, body: json.optional() });

/** What sends a request when there is something new. There is one for each connection: vendors allow few. */
const webhook = z.strictObject({
  /** Where it is made; in the body `{url}` is filled in. */
  path,
  body: json,
  /** Where the answer has the vendor's id of it, and what it signs with. */
  ref: pointer,
  secret: pointer,
  /** The vendor lists them at the same path. */
  listed: z.strictObject({
    records: pointer,
    ref: pointer,
    url: pointer,
    /** True while it notes changes. */
    isWorking: pointer,
    /** True while it tells of them: after failures it may stop. */
    isTelling: pointer,
  }),
  /** Makes it last longer. */
  renew: about,
  /** Has it tell again. */
  resume: about,
  /** By DELETE. */
  remove: z.strictObject({ path }),
});

/** Where it lists what has changed, one entry after the other, each with a number. */
const entries = z.strictObject({
  /** With the webhook's id as `{ref}`. */
  path,
  records: pointer,
  /** The parameter that says from which entry on, and the most that an answer has. */
  from: z.string(),
  size: z.strictObject({ name: z.string(), max: z.int().positive() }),
  /** Where the answer has the number of the entry after its last, and whether there may be one. */
  next: pointer,
  hasMore: pointer,
  /** In an entry: when it happened. */
  time: z.strictObject({ at: pointer, format: timeFormat }),
  /** In an entry: there if the vendor can't say what has changed. */
  untold: pointer,
  /** The member of an entry that is a map of objects by their names. */
  objects: z.string(),
  /** The members of an object, each a map by the records' ids or a list of these. */
  changes: z.record(z.string(), z.enum(PROVIDER_EVENT_KINDS)),
});

export const eventList = z.strictObject({ proof, webhook, entries });
export type EventListDeclaration = z.output<typeof eventList>;
