/** Change events as Salesforce's Change Data Capture sends them, and what they tell. */
import type { Type } from 'avsc';
import { z } from 'zod';
import type { ProviderEvent, ProviderEventKind, StreamGap } from '../../subscribing.ts';
import { fieldPath } from '../object-names.ts';
import { fieldsOf, recordIn } from './avro.ts';

const headerSchema = z.looseObject({
  entityName: z.string(),
  recordIds: z.array(z.string()),
  changeType: z.string(),
  /** With the number in it, the same whenever the event is sent again. */
  transactionKey: z.string(),
  sequenceNumber: z.int(),
  commitTimestamp: z.number(),
  changedFields: z.array(z.string()).default([]),
  diffFields: z.array(z.string()).default([]),
  nulledFields: z.array(z.string()).default([]),
});
const payloadSchema = z.looseObject({ ChangeEventHeader: headerSchema });
type Header = z.output<typeof headerSchema>;

const KINDS = new Map<string, ProviderEventKind>([
  ['CREATE', 'CREATE'],
  ['UPDATE', 'UPDATE'],
  ['DELETE', 'DELETE'],
  // Salesforce could not make the whole event, and tells the record alone.
  ['GAP_CREATE', 'CREATE'],
  ['GAP_UPDATE', 'UPDATE'],
  ['GAP_DELETE', 'DELETE'],
]);
/** More changes of one transaction than are told one by one. */
const OVERFLOW = 'GAP_OVERFLOW';
/** The longest time that a transaction takes, and then some. */
const TRANSACTION_MS = 15 * 60_000;

export interface Change {
  events: ProviderEvent[];
  gaps: StreamGap[];
  time: Date;
}

/** Throws if it is no change event. */
export function changeOf(type: Type, payload: Buffer, account: string): Change {
  // Plain values instead of Avro's classes.
  const decoded: unknown = JSON.parse(JSON.stringify(type.fromBuffer(payload)));
  const sent = payloadSchema.parse(decoded);
  const header = withFieldNames(type, sent.ChangeEventHeader);
  const time = new Date(header.commitTimestamp);
  if (header.changeType === OVERFLOW) {
    const since = new Date(header.commitTimestamp - TRANSACTION_MS);
    return { events: [], gaps: [{ objectName: header.entityName, since, until: time }], time };
  }
  const about = { account, time, raw: { ...sent, ChangeEventHeader: header } };
  return { events: header.recordIds.map((id) => eventOf(id, header, about)), gaps: [], time };
}

function eventOf(
  recordId: string,
  header: Header,
  about: Pick<ProviderEvent, 'account' | 'time' | 'raw'>,
): ProviderEvent {
  const { entityName: objectName, changeType, transactionKey, sequenceNumber } = header;
  return {
    ...about,
    nativeId: [transactionKey, sequenceNumber, recordId].join('.'),
    objectName,
    recordId,
    kind: KINDS.get(changeType) ?? 'OTHER',
    nativeType: changeType,
    changedFields: [...new Set(header.changedFields.flatMap(spellings))],
    // An event has only what has changed.
    record: null,
    association: null,
  };
}

function withFieldNames(type: Type, header: Header): Header {
  const named = (bitmaps: string[]) => fieldNames(type, bitmaps);
  return {
    ...header,
    changedFields: named(header.changedFields),
    diffFields: named(header.diffFields),
    nulledFields: named(header.nulledFields),
  };
}

/**
 * Bitmaps name fields by their places in the schema: `0x0A` those of the record, `5-0x03` those within its field 5.
 */
function fieldNames(type: Type, bitmaps: string[]): string[] {
  const fields = fieldsOf(type);
  return bitmaps.flatMap((bitmap) => {
    const [, place, bits = ''] = /^(?:(\d+)-)?0x([\da-f]+)$/i.exec(bitmap) ?? [];
    if (place === undefined) return chosen(fields, bits);
    const parent = fields[Number(place)];
    if (!parent) return [];
    return chosen(fieldsOf(recordIn(parent.type)), bits).map((name) => `${parent.name}.${name}`);
  });
}

/** The lowest bit is the first field's. */
function chosen(fields: readonly { name: string }[], hex: string): string[] {
  const bits = BigInt(`0x${hex || '0'}`);
  return fields.flatMap(({ name }, place) => ((bits >> BigInt(place)) & 1n ? name : []));
}

/** Part of a compound field: by its path, as a field of the record, and as a change of the whole. */
function spellings(name: string): string[] {
  const [parent = name, part] = name.split('.');
  if (part === undefined) return [name];
  const flat = fieldPath(name);
  return [parent, name, flat.length === 1 ? flat[0] : part].filter((one) => one !== undefined);
}
