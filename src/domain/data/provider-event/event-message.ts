/** Builds the messages that deliver provider events. */
import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import type { ProviderRecord } from '../../../providers/moving-records.ts';
import type {
  ProviderAssociation,
  ProviderEventKind,
  ProviderEvent as SentEvent,
} from '../../../providers/subscribing.ts';
import { castJsonColumn } from '../../base/storable-json.ts';
import {
  createEntry,
  createMessageBodies,
  installationMessage,
  resultEntry,
} from '../operation/read/read-message.ts';
import type { ReadPlan } from '../operation/read/read-plan.ts';

export type StoredEvent = Row<'ProviderEvent'>;
type EventContent = Pick<SentEvent, 'record' | 'association' | 'raw'>;

/** The maximum number of entries in one message. A record that changes constantly may have many events. */
const ENTRIES_MAX = 100;

const EVENT_TYPES = {
  CREATE: 'create',
  UPDATE: 'update',
  DELETE: 'delete',
  ASSOCIATION_UPDATE: 'associationUpdate',
  OTHER: 'other',
} as const satisfies Record<ProviderEventKind, string>;

const associatedRecord = resultEntry
  .extend({
    id: z.string().describe("The record's id."),
    objectName: z
      .string()
      .describe('The name of its object. Empty if the provider does not name the object.'),
    rawObjectName: z.string().describe("The provider's name of the object."),
  })
  .describe(
    'A record of an association. It has fields only with `includeFullRecords`, and if the provider returns the record.',
  );

/** The body of a message, as the documentation describes it. */
export const eventsMessage = installationMessage.extend({
  action: z.literal('subscribe').describe('Always `subscribe`.'),
  result: z
    .array(
      resultEntry.partial().extend({
        subscribeEventType: z.enum(Object.values(EVENT_TYPES)).describe('The kind of event.'),
        providerEventType: z.string().describe("The provider's own name of the event."),
        id: z
          .string()
          .optional()
          .describe('The id of the record. Absent if the event concerns no record.'),
        fieldsUpdated: z
          .array(z.string())
          .optional()
          .describe('For an update: the changed fields, if the provider reports them.'),
        fromRecord: associatedRecord
          .optional()
          .describe('For an association: the record at its start.'),
        toRecord: associatedRecord
          .optional()
          .describe('For an association: the record at its end.'),
        rawEvent: z.unknown().describe('The event as the provider sent it.'),
      }),
    )
    .describe('The events, of one record and in the order of its changes.'),
});

/** Finds a fetched record by object and id. */
export type FindRecord = (objectName: string, id: string) => ProviderRecord | undefined;

export type DeliveredNames = Pick<ReadPlan, 'fields' | 'mappings' | 'replacements'>;

interface EventContext {
  /** Null if the installation does not read the object. */
  deliveredNames: DeliveredNames | null;
  findRecord: FindRecord;
}

/** A message with the events of one record, in their order. */
export interface EventMessage {
  /** Null if the events have no record. */
  recordId: string | null;
  body: string;
}

export function createEventMessages(
  head: object,
  events: readonly StoredEvent[],
  context: EventContext,
): EventMessage[] {
  const eventsByRecordId = Map.groupBy(events, ({ recordId }) => recordId);
  return [...eventsByRecordId].flatMap(([recordId, recordEvents]) => {
    const entries = recordEvents.map((event) => JSON.stringify(createEventEntry(event, context)));
    return createMessageBodies(head, entries, ENTRIES_MAX).map((body) => ({ recordId, body }));
  });
}

export function readEventContent({ content }: StoredEvent): EventContent {
  return castJsonColumn(content);
}

function createEventEntry(event: StoredEvent, context: EventContext): object {
  const { kind, nativeType, recordId, changedFields } = event;
  const { raw, association } = readEventContent(event);
  return {
    subscribeEventType: EVENT_TYPES[kind],
    providerEventType: nativeType,
    ...(recordId !== null && { id: recordId }),
    ...(kind === 'UPDATE' && { fieldsUpdated: changedFields }),
    ...createRecordMembers(event, context),
    ...(association && createAssociationEnds(association, context)),
    rawEvent: raw,
  };
}

function createRecordMembers(
  event: StoredEvent,
  { deliveredNames, findRecord }: EventContext,
): object {
  const { kind, objectName, recordId } = event;
  if (!deliveredNames || (kind !== 'CREATE' && kind !== 'UPDATE') || recordId === null) return {};
  const record = readEventContent(event).record ?? findRecord(objectName, recordId);
  return record ? createEntry(record, deliveredNames) : {};
}

function createAssociationEnds({ from, to }: ProviderAssociation, context: EventContext): object {
  return {
    fromRecord: createAssociatedEntry(from, context),
    toRecord: createAssociatedEntry(to, context),
  };
}

function createAssociatedEntry(
  { id, objectName }: ProviderAssociation['from'],
  { deliveredNames, findRecord }: EventContext,
): object {
  const record = findRecord(objectName, id);
  const identity = { id, objectName, rawObjectName: objectName };
  if (!record || !deliveredNames) return { ...identity, fields: {}, mappedFields: {}, raw: {} };
  return { ...identity, ...createEntry(record, deliveredNames) };
}
