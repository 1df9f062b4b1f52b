/** Builds the messages that deliver a page of records. */
import { z } from 'zod';
import type { ProviderRecord } from '../../../../providers/moving-records.ts';
import { replaceValues } from '../../../integrations/installation/choice/value-mapping.ts';
import type { SerializedEntry } from './delivered-entries.ts';
import { findReplacements, type ReadPlan } from './read-plan.ts';

/** The reference API's limit for a message. A record that exceeds it is sent alone in a message. */
export const MESSAGE_BYTES_MAX = 300_000;

const id = z.string();
const fields = z.record(z.string(), z.unknown());

const messageHead = z.object({
  action: z.literal('read').describe('Always `read`.'),
  projectId: id.describe('The id of the project.'),
  provider: z.string().describe('The name of the provider.'),
  groupRef: z.string().describe("The builder's reference for the group."),
  groupName: z.string().describe("The group's name."),
  installationId: id.describe('The id of the installation that reads.'),
  installationUpdateTime: z.iso.datetime().describe('When the installation was last changed.'),
  consumerRef: z.string().describe("The builder's reference for the connection's consumer."),
  consumerName: z.string().describe("The consumer's name."),
  workspace: z
    .string()
    .optional()
    .describe("The provider's workspace. Absent if the connection has none."),
  objectName: z
    .string()
    .describe("The mapped name of the object, or the provider's if there is none."),
  rawObjectName: z.string().describe("The provider's name of the object."),
  mappedObjectName: z
    .string()
    .describe('Same as `objectName`. Included because event messages have it too.'),
  operationId: id.describe('The id of the read operation.'),
  operationTime: z.iso.datetime().describe('When the read started.'),
  readType: z
    .enum(['backfill', 'scheduled', 'triggered'])
    .describe(
      '`backfill` for the first read of an object, `scheduled` for a later read by the schedule, `triggered` for a read started with `triggerRead`.',
    ),
});

export const resultEntry = z
  .object({
    fields: fields.describe(
      "The selected fields, by the provider's names; null if the record has no value.",
    ),
    mappedFields: fields.describe(
      'The fields that have a mapped name, by that name, with mapped values.',
    ),
    raw: fields.describe('The record as the provider returned it.'),
  })
  .describe('A record.');

/** The body of a message with records. The API documentation is generated from it. */
export const recordsMessage = messageHead.extend({
  resultInfo: z
    .object({
      type: z.literal('inline').describe('Always `inline`: the records are in this message.'),
      numRecords: z.int().min(1).describe('The number of records in this message.'),
    })
    .describe('How `result` contains the records.'),
  result: z
    .array(resultEntry.extend({ id: z.string().describe("The provider's id of the record.") }))
    .describe('The records.'),
});

/** Members of every message with an installation's records, including messages that no read sends. */
export const installationMessage = recordsMessage.omit({
  operationId: true,
  operationTime: true,
  readType: true,
});

/** The members of a message of a read, without its records. */
export type MessageHead = z.output<typeof messageHead>;

/** A record with its selected fields, by the provider's names and by mapped names. */
export type ResultEntry = z.output<typeof resultEntry>;

type DeliveredNames = Pick<ReadPlan, 'fields' | 'mappings' | 'replacements'>;

/** Creates the entry of a record. It lacks fields that the gateway could not request from the provider. */
export function createEntry(
  { fields, raw }: ProviderRecord,
  deliveredNames: DeliveredNames,
): ResultEntry {
  const replace = (name: string, deliveredName: string) =>
    replaceValues(fields[name], findReplacements(deliveredNames, deliveredName));
  const isRead = (name: string) => Object.hasOwn(fields, name);
  return {
    fields: Object.fromEntries(
      deliveredNames.fields.filter(isRead).map((name) => [name, replace(name, name)]),
    ),
    mappedFields: Object.fromEntries(
      deliveredNames.mappings
        .filter(({ fieldName }) => isRead(fieldName))
        .map(({ fieldName, mapToName }) => [mapToName, replace(fieldName, mapToName)]),
    ),
    raw,
  };
}

export function serializeEntry(
  record: ProviderRecord,
  deliveredNames: DeliveredNames,
): SerializedEntry {
  const { id } = record;
  return { id, text: JSON.stringify({ id, ...createEntry(record, deliveredNames) }) };
}

interface PageToDeliver {
  /** The entries of the page, after those of earlier pages that wait until a message is full. */
  entries: readonly SerializedEntry[];
  /** True if no page follows, so that all entries are sent. */
  isLast: boolean;
}

interface PageMessages {
  bodies: string[];
  sentEntries: SerializedEntry[];
  waitingEntries: SerializedEntry[];
}

/**
 * Returns the bodies of the messages in the order of their records. If the integration sets the size of a message, the
 * entries of a message that is not full wait for the next page.
 */
export function createPageMessages(
  head: MessageHead,
  { entries, isLast }: PageToDeliver,
  { messageSize }: Pick<ReadPlan, 'messageSize'>,
): PageMessages {
  const texts = entries.map(({ text }) => text);
  const parts = [...splitEntries(head, texts, messageSize ?? texts.length)];
  const isLastPartFull = messageSize === null || (parts.at(-1)?.length ?? 0) >= messageSize;
  const waitingCount = isLast || isLastPartFull ? 0 : (parts.pop()?.length ?? 0);
  const sentCount = entries.length - waitingCount;
  return {
    bodies: parts.map((part) => createBody(head, part, part.length)),
    sentEntries: entries.slice(0, sentCount),
    waitingEntries: entries.slice(sentCount),
  };
}

/** Returns the bodies of messages with serialized entries, in their order. */
export function createMessageBodies(head: object, entries: string[], entriesMax: number): string[] {
  return [...splitEntries(head, entries, entriesMax)].map((part) =>
    createBody(head, part, part.length),
  );
}

/** Serializes waiting entries for their column in the read's row. */
export function serializeEntries(entries: readonly SerializedEntry[]): string | null {
  return entries.length === 0 ? null : `[${entries.map(({ text }) => text).join(',')}]`;
}

export function parseEntries(text: string | null): SerializedEntry[] {
  const entries: { id: string }[] = text === null ? [] : JSON.parse(text);
  return entries.map((entry) => ({ id: entry.id, text: JSON.stringify(entry) }));
}

/** Splits entries into messages of at most MESSAGE_BYTES_MAX and `countMax` entries. */
function* splitEntries(head: object, entries: string[], countMax: number): Generator<string[]> {
  // The size of an entry includes a comma. The last entry has none, so one byte is added.
  const bytesMax = MESSAGE_BYTES_MAX + 1 - Buffer.byteLength(createBody(head, [], entries.length));
  let part: string[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = Buffer.byteLength(entry) + 1;
    if (part.length > 0 && (bytes + size > bytesMax || part.length === countMax)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(entry);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/** Joins serialized entries, so that records are serialized only once. */
function createBody(head: object, entries: string[], numRecords: number): string {
  const envelope = JSON.stringify({ ...head, resultInfo: { type: 'inline', numRecords } });
  return `${envelope.slice(0, -1)},"result":[${entries.join(',')}]}`;
}
