/** The messages that provider events are delivered in. */
import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import type { ProviderRecord } from '../../providers/moving-records.ts';
import type {
  ProviderAssociation,
  ProviderEventKind,
  ProviderEvent as SentEvent,
} from '../../providers/subscribing.ts';
import {
  entryOf,
  installationMessage,
  messageBodies,
  resultEntry,
} from '../operation/read/read-message.ts';
import type { ReadPlan } from '../operation/read/read-plan.ts';
import { storedJson } from '../storable-json.ts';

export type ProviderEvent = Row<'ProviderEvent'>;
export type EventContent = Pick<SentEvent, 'record' | 'association' | 'raw'>;

/** Of one message: a record that changes all the time. */
const ENTRIES_MAX = 100;

const EVENT_TYPES = {
  CREATE: 'create',
  UPDATE: 'update',
  DELETE: 'delete',
  ASSOCIATION_UPDATE: 'associationUpdate',
  OTHER: 'other',
} as const satisfies Record<ProviderEventKind, string>;

const end = resultEntry
  .extend({
    id: z.string().describe("The record's id."),
    objectName: z.string().describe('Its object.'),
    rawObjectName: z.string().describe("The provider's name of the object."),
  })
  .describe('A record at an end of an association; its fields only with `includeFullRecords`.');

/** The body of a message, as the documents describe it. */
export const eventsMessage = installationMessage.extend({
  action: z.literal('subscribe').describe('Always `subscribe`.'),
  result: z
    .array(
      resultEntry.partial().extend({
        subscribeEventType: z.enum(Object.values(EVENT_TYPES)).describe('What happened.'),
        providerEventType: z.string().describe("The provider's own name of the event."),
        id: z.string().optional().describe('The record; left out if it is about none.'),
        fieldsUpdated: z
          .array(z.string())
          .optional()
          .describe('Of an update: the fields that have changed, where the provider tells.'),
        fromRecord: end.optional().describe('Of an association: the record that it leads from.'),
        toRecord: end.optional().describe('Of an association: the record that it leads to.'),
        rawEvent: z.unknown().describe('The event as the provider sent it.'),
      }),
    )
    .describe('The events, of one record and in the order of its changes.'),
});

/** Records by object and id, as they were fetched. */
export type Fetched = (objectName: string, id: string) => ProviderRecord | undefined;

export type Names = Pick<ReadPlan, 'fields' | 'mappings' | 'words'>;

export interface Described {
  /** Null for an object that is not read: its events come as they are. */
  plan: Names | null;
  fetched: Fetched;
}

export function contentOf({ content }: ProviderEvent): EventContent {
  return storedJson(content);
}

/** What a message says of one event. */
export function eventEntry(event: ProviderEvent, described: Described): object {
  const { kind, nativeType, recordId, changedFields } = event;
  const { raw, association } = contentOf(event);
  return {
    subscribeEventType: EVENT_TYPES[kind],
    providerEventType: nativeType,
    ...(recordId !== null && { id: recordId }),
    ...(kind === 'UPDATE' && { fieldsUpdated: changedFields }),
    ...recordParts(event, described),
    ...(association && associationParties(association, described)),
    rawEvent: raw,
  };
}

function recordParts(event: ProviderEvent, { plan, fetched }: Described): object {
  const { kind, objectName, recordId } = event;
  if (!plan || (kind !== 'CREATE' && kind !== 'UPDATE') || recordId === null) return {};
  const record = contentOf(event).record ?? fetched(objectName, recordId);
  return record ? entryOf(record, plan) : {};
}

function associationParties({ from, to }: ProviderAssociation, described: Described): object {
  return { fromRecord: endOf(from, described), toRecord: endOf(to, described) };
}

function endOf(
  { id, objectName }: ProviderAssociation['from'],
  { plan, fetched }: Described,
): object {
  const record = fetched(objectName, id);
  const known = { id, objectName, rawObjectName: objectName };
  if (!record || !plan) return { ...known, fields: {}, mappedFields: {}, raw: {} };
  return { ...known, ...entryOf(record, plan) };
}

/** Events of one record go together and in their order. */
export interface EventMessage {
  /** Null if it is about no record. */
  recordId: string | null;
  body: string;
}

export function eventMessages(
  head: object,
  events: readonly ProviderEvent[],
  described: Described,
): EventMessage[] {
  const byRecord = Map.groupBy(events, ({ recordId }) => recordId);
  return [...byRecord].flatMap(([recordId, ofRecord]) => {
    const entries = ofRecord.map((event) => JSON.stringify(eventEntry(event, described)));
    return messageBodies(head, entries, ENTRIES_MAX).map((body) => ({ recordId, body }));
  });
}
