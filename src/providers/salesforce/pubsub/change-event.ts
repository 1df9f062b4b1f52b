/** Parses events of Salesforce's Change Data Capture. */
import type { schema, Type } from 'avsc';
import avro from 'avsc';
import { z } from 'zod';
import { requireParsed } from '../../../work/bounded-parse.ts';
import { MINUTE_MS } from '../../../work/durations.ts';
import type { ProviderEvent, ProviderEventKind, ProviderStreamGap } from '../../subscribing.ts';
import { parseFieldPath } from '../object-names.ts';

const headerSchema = z.looseObject({
  entityName: z.string(),
  recordIds: z.array(z.string()),
  changeType: z.string(),
  /** Together with `sequenceNumber` it identifies the event, even if the event is sent twice. */
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
  // A gap event: Salesforce could not create the full event, so it contains only the record ids.
  ['GAP_CREATE', 'CREATE'],
  ['GAP_UPDATE', 'UPDATE'],
  ['GAP_DELETE', 'DELETE'],
]);
/** A transaction with too many changes. Salesforce does not report them individually. */
const OVERFLOW = 'GAP_OVERFLOW';
/** An upper bound for the duration of a transaction. */
const TRANSACTION_MS = 15 * MINUTE_MS;

export interface DecodedChange {
  events: ProviderEvent[];
  gaps: ProviderStreamGap[];
  time: Date;
}

/** Parses an event. Throws if it is not a change event. */
export function decodeChange(type: Type, payload: Buffer, account: string): DecodedChange {
  // The JSON round trip converts Avro's classes to plain values.
  const event: unknown = JSON.parse(JSON.stringify(type.fromBuffer(payload)));
  const body = requireParsed(payloadSchema, event);
  const header = decodeFieldNames(type, body.ChangeEventHeader);
  const time = new Date(header.commitTimestamp);
  if (header.changeType === OVERFLOW) {
    const since = new Date(header.commitTimestamp - TRANSACTION_MS);
    return { events: [], gaps: [{ objectName: header.entityName, since, until: time }], time };
  }
  const common = { account, time, raw: { ...body, ChangeEventHeader: header } };
  return { events: header.recordIds.map((id) => createEvent(id, header, common)), gaps: [], time };
}

function createEvent(
  recordId: string,
  header: Header,
  common: Pick<ProviderEvent, 'account' | 'time' | 'raw'>,
): ProviderEvent {
  const { entityName: objectName, changeType, transactionKey, sequenceNumber } = header;
  return {
    ...common,
    nativeId: [transactionKey, sequenceNumber, recordId].join('.'),
    objectName,
    recordId,
    kind: KINDS.get(changeType) ?? 'OTHER',
    nativeType: changeType,
    changedFields: [...new Set(header.changedFields.flatMap(listAliases))],
    // Events contain only the changed fields.
    record: null,
    association: null,
  };
}

function decodeFieldNames(type: Type, header: Header): Header {
  const decodeNames = (bitmaps: string[]) => decodeBitmaps(type, bitmaps);
  return {
    ...header,
    changedFields: decodeNames(header.changedFields),
    diffFields: decodeNames(header.diffFields),
    nulledFields: decodeNames(header.nulledFields),
  };
}

/**
 * Returns the names of the fields in bitmaps. A bitmap refers to fields by position in the schema: `0x0A` to fields of
 * the record, `5-0x03` to fields inside field 5.
 */
function decodeBitmaps(type: Type, bitmaps: string[]): string[] {
  const fields = listFields(type);
  return bitmaps.flatMap((bitmap) => {
    const [, position, bits = ''] = /^(?:(\d+)-)?0x([\da-f]+)$/i.exec(bitmap) ?? [];
    if (position === undefined) return listSetBits(fields, bits);
    const parent = fields[Number(position)];
    if (!parent) return [];
    return listSetBits(listFields(unwrapRecordType(parent.type)), bits).map(
      (name) => `${parent.name}.${name}`,
    );
  });
}

/** Returns the names of the set bits. The lowest bit is the first field. */
function listSetBits(fields: readonly { name: string }[], hex: string): string[] {
  const bits = BigInt(`0x${hex || '0'}`);
  return fields.flatMap(({ name }, position) => ((bits >> BigInt(position)) & 1n ? name : []));
}

/**
 * Returns all names of a field. Part of a compound field has three: the compound field, its path, and its name as a
 * field of the record.
 */
function listAliases(name: string): string[] {
  const [parent = name, part] = name.split('.');
  if (part === undefined) return [name];
  const steps = parseFieldPath(name);
  return [parent, name, steps.length === 1 ? steps[0] : part].filter(
    (alias) => alias !== undefined,
  );
}

/** Decodes a long to a number. A value beyond the exact range becomes a string, as in Salesforce's JSON. */
const longType = avro.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => toExactNumber(bytes.readBigInt64LE()),
  toBuffer(value: number | string) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(value));
    return bytes;
  },
  fromJSON: (value: unknown) => value,
  toJSON: (value: unknown) => value,
  isValid: (value: unknown) => typeof value === 'number' || typeof value === 'string',
  compare: (first: number | string, second: number | string) =>
    Number(BigInt(first) - BigInt(second)),
});

function toExactNumber(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/** Creates the type of a schema. Throws if the string is not a schema. */
export function parseSchema(schemaJson: string): Type {
  return avro.Type.forSchema(JSON.parse(schemaJson) as schema.AvroSchema, {
    registry: { long: longType },
  });
}

/** Returns the fields of a record type in the order that bitmaps use. Empty for other types. */
function listFields(type: Type): { name: string; type: Type }[] {
  return type instanceof avro.types.RecordType ? [...type.fields] : [];
}

/** Returns the record type inside the type of a nullable field. */
function unwrapRecordType(type: Type): Type {
  const isUnion =
    type instanceof avro.types.UnwrappedUnionType || type instanceof avro.types.WrappedUnionType;
  if (!isUnion) return type;
  return type.types.find((branch: Type) => branch instanceof avro.types.RecordType) ?? type;
}
