/** The messages that a page of records is delivered in. */
import type { ProviderRecord } from '../../providers/provider.ts';
import type { ReadPlan } from './plan.ts';

/** The platform's limit of a message's size. A record that is larger alone is sent alone. */
export const MESSAGE_BYTES_MAX = 300_000;

/** What every message of a read says of it. */
export interface MessageHead {
  action: 'read';
  projectId: string;
  provider: string;
  groupRef: string;
  groupName: string;
  installationId: string;
  installationUpdateTime: string;
  consumerRef: string;
  consumerName: string;
  /** Left out where the connection has none. */
  workspace?: string;
  /** The mapped name where there is one. */
  objectName: string;
  rawObjectName: string;
  operationId: string;
  operationTime: string;
  readType: 'backfill' | 'scheduled' | 'triggered';
}

/** One record, with the fields that were selected under both names. */
export interface ResultEntry {
  fields: Record<string, unknown>;
  /** Only those that have a mapped name. */
  mappedFields: Record<string, unknown>;
  raw: Record<string, unknown>;
}

type Names = Pick<ReadPlan, 'fields' | 'mappings'>;

export function resultEntry({ fields, raw }: ProviderRecord, plan: Names): ResultEntry {
  const value = (name: string) => (Object.hasOwn(fields, name) ? fields[name] : null);
  return {
    fields: Object.fromEntries(plan.fields.map((name) => [name, value(name)])),
    mappedFields: Object.fromEntries(
      plan.mappings.map(({ fieldName, mapToName }) => [mapToName, value(fieldName)]),
    ),
    raw,
  };
}

/** The bodies for the records, in their order; none where there are no records. */
export function pageMessages(
  head: MessageHead,
  records: readonly ProviderRecord[],
  plan: Names & Pick<ReadPlan, 'pageSize'>,
): string[] {
  const entries = records.map((record) => JSON.stringify(resultEntry(record, plan)));
  // Every entry counts a comma, and the last has none.
  const room = MESSAGE_BYTES_MAX + 1 - Buffer.byteLength(body(head, [], records.length));
  return [...parts(entries, room, plan.pageSize)].map((part) => body(head, part, part.length));
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
function body(head: MessageHead, entries: string[], numRecords: number): string {
  const envelope = JSON.stringify({ ...head, resultInfo: { type: 'inline', numRecords } });
  return `${envelope.slice(0, -1)},"result":[${entries.join(',')}]}`;
}
