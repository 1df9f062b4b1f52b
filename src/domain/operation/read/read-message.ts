/** The messages that a page of records is delivered in. */
import { z } from 'zod';
import type { ProviderRecord } from '../../../providers/moving-records.ts';
import { inWords } from '../../installation/choice/value-mapping.ts';
import type { ReadPlan } from './read-plan.ts';

/** The platform's limit of a message's size. A record that is larger alone is sent alone. */
export const MESSAGE_BYTES_MAX = 300_000;

const id = z.string();
const fields = z.record(z.string(), z.unknown());

const messageHead = z.object({
  action: z.literal('read').describe('Always `read`.'),
  projectId: id.describe('The id of the project.'),
  provider: z.string().describe('The name of the provider.'),
  groupRef: z.string().describe("The group, by the builder's reference."),
  groupName: z.string().describe("The group's name."),
  installationId: id.describe('The id of the installation that reads.'),
  installationUpdateTime: z.iso.datetime().describe('When the installation was last changed.'),
  consumerRef: z.string().describe("The connection's consumer, by the builder's reference."),
  consumerName: z.string().describe("The consumer's name."),
  workspace: z
    .string()
    .optional()
    .describe("The provider's workspace; left out if the connection has none."),
  objectName: z
    .string()
    .describe("The mapped name of the object, or the provider's if there is none."),
  rawObjectName: z.string().describe("The provider's name of the object."),
  operationId: id.describe('The id of the operation that reads.'),
  operationTime: z.iso.datetime().describe('When the read began.'),
  readType: z
    .enum(['backfill', 'scheduled', 'triggered'])
    .describe(
      '`backfill` for the first read of an object, `scheduled` for a later one of its schedule, `triggered` for one by triggerRead.',
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
    raw: fields.describe('The record as the provider gave it.'),
  })
  .describe('A record.');

/** The body of a message, as the documents describe it. */
export const recordsMessage = messageHead.extend({
  resultInfo: z
    .object({
      type: z.literal('inline').describe('Always `inline`: the records are in this message.'),
      numRecords: z.int().min(1).describe('How many records this message has.'),
    })
    .describe('What is in `result`.'),
  result: z.array(resultEntry).describe('The records.'),
});

/** What every message about an installation's records says of it, of a read or not. */
export const installationMessage = recordsMessage.omit({
  operationId: true,
  operationTime: true,
  readType: true,
});

/** What every message of a read says of it. */
export type MessageHead = z.output<typeof messageHead>;

/** One record, with the fields that were selected under both names. */
export type ResultEntry = z.output<typeof resultEntry>;

type Names = Pick<ReadPlan, 'fields' | 'mappings' | 'words'>;

export function entryOf({ fields, raw }: ProviderRecord, plan: Names): ResultEntry {
  const value = (name: string, deliveredName: string) =>
    inWords(Object.hasOwn(fields, name) ? fields[name] : null, wordsOf(plan, deliveredName));
  return {
    fields: Object.fromEntries(plan.fields.map((name) => [name, value(name, name)])),
    mappedFields: Object.fromEntries(
      plan.mappings.map(({ fieldName, mapToName }) => [mapToName, value(fieldName, mapToName)]),
    ),
    raw,
  };
}

function wordsOf({ words }: Names, name: string) {
  return Object.hasOwn(words, name) ? words[name] : undefined;
}

/** What a read has to tell: entries that waited since the page before, and this page's records. */
export interface PageToReport {
  waiting: readonly string[];
  records: readonly ProviderRecord[];
  /** No page comes after it: nothing waits any more. */
  isLast: boolean;
}

/**
 * The bodies of the messages, in the order of their records; none if there are no records. If the integration
 * says how many records a message has, the rest waits for the next page: at most what one message takes.
 */
export function pageMessages(
  head: MessageHead,
  { waiting, records, isLast }: PageToReport,
  plan: Names & Pick<ReadPlan, 'messageSize'>,
): { bodies: string[]; waiting: string[] } {
  const entries = [...waiting, ...records.map((record) => JSON.stringify(entryOf(record, plan)))];
  const { messageSize } = plan;
  // Every entry counts a comma, and the last has none.
  const room = MESSAGE_BYTES_MAX + 1 - Buffer.byteLength(body(head, [], entries.length));
  const messages = [...parts(entries, room, messageSize ?? entries.length)];
  const isOpen = messageSize !== null && (messages.at(-1)?.length ?? 0) < messageSize;
  const rest = isOpen && !isLast ? messages.pop() : undefined;
  return { bodies: messages.map((part) => body(head, part, part.length)), waiting: rest ?? [] };
}

/** The bodies that carry the entries, each as JSON text, in their order. */
export function messageBodies(head: object, entries: string[], entriesMax: number): string[] {
  // Every entry counts a comma, and the last has none.
  const room = MESSAGE_BYTES_MAX + 1 - Buffer.byteLength(body(head, [], entries.length));
  return [...parts(entries, room, entriesMax)].map((part) => body(head, part, part.length));
}

/** Entries as a row keeps them until the next page. */
export function storedEntries(entries: readonly string[]): string | null {
  return entries.length === 0 ? null : `[${entries.join(',')}]`;
}

export function entriesOf(stored: string | null): string[] {
  const entries: unknown[] = stored === null ? [] : JSON.parse(stored);
  return entries.map((entry) => JSON.stringify(entry));
}

function* parts(entries: string[], room: number, most: number): Generator<string[]> {
  let part: string[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = Buffer.byteLength(entry) + 1;
    if (part.length > 0 && (bytes + size > room || part.length === most)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(entry);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/** Records are serialised once: joined as text, not parsed again. */
function body(head: object, entries: string[], numRecords: number): string {
  const envelope = JSON.stringify({ ...head, resultInfo: { type: 'inline', numRecords } });
  return `${envelope.slice(0, -1)},"result":[${entries.join(',')}]}`;
}
