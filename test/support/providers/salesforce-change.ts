/**
 * Encodes change events of the Salesforce test server: their schemas and bytes, as in Change Data Capture.
 */
import { createHash } from 'node:crypto';
import avro, { type schema } from 'avsc';

export interface ChangeEvent {
  entityName: string;
  changeType: string;
  recordIds: string[];
  /** Changed values by field. The value of an address or a name is an object of its parts. */
  fields?: Record<string, unknown>;
  transactionKey?: string;
  commitTimestamp?: number;
}

/** Parts of the compound fields of a contact. An event may change single parts. */
const COMPOUND_FIELDS = {
  Name: ['Salutation', 'FirstName', 'LastName'],
  MailingAddress: ['Street', 'City', 'PostalCode'],
} as const;
const FIELDS_BY_ENTITY: Record<string, readonly string[]> = {
  Contact: ['Email', 'Phone', 'AccountId', 'Name', 'MailingAddress'],
  Account: ['Name', 'Website', 'Description'],
};

const NULLABLE_TEXT: schema.AvroSchema = ['null', 'string'];
const TEXT_LIST: schema.AvroSchema = { type: 'array', items: 'string' };

export function createEventSchema(entityName: string): schema.AvroSchema {
  const fields = (FIELDS_BY_ENTITY[entityName] ?? []).map((name) => ({
    name,
    type: createFieldType(entityName, name),
    default: null,
  }));
  return {
    type: 'record',
    name: `${entityName}ChangeEvent`,
    namespace: 'com.sforce.eventbus',
    fields: [{ name: 'ChangeEventHeader', type: HEADER_SCHEMA }, ...fields],
  };
}

function createFieldType(entityName: string, name: string): schema.AvroSchema {
  const partBitmaps = findFieldParts(entityName, name);
  if (!partBitmaps) return NULLABLE_TEXT;
  const fields = partBitmaps.map((part) => ({ name: part, type: NULLABLE_TEXT, default: null }));
  return [
    ...(name === 'Name' ? (['null', 'string'] as const) : (['null'] as const)),
    {
      type: 'record',
      name: `${entityName}${name}`,
      fields,
    },
  ];
}

function findFieldParts(entityName: string, name: string): readonly string[] | undefined {
  return entityName === 'Contact'
    ? COMPOUND_FIELDS[name as keyof typeof COMPOUND_FIELDS]
    : undefined;
}

const HEADER_SCHEMA: schema.AvroSchema = {
  type: 'record',
  name: 'ChangeEventHeader',
  fields: [
    { name: 'entityName', type: 'string' },
    { name: 'recordIds', type: TEXT_LIST },
    {
      name: 'changeType',
      type: {
        type: 'enum',
        name: 'ChangeType',
        symbols: [
          ...['CREATE', 'UPDATE', 'DELETE', 'UNDELETE', 'GAP_CREATE', 'GAP_UPDATE', 'GAP_DELETE'],
          ...['GAP_UNDELETE', 'GAP_OVERFLOW', 'SNAPSHOT'],
        ],
      },
    },
    { name: 'changeOrigin', type: 'string' },
    { name: 'transactionKey', type: 'string' },
    { name: 'sequenceNumber', type: 'int' },
    { name: 'commitTimestamp', type: 'long' },
    { name: 'commitNumber', type: 'long' },
    { name: 'commitUser', type: 'string' },
    { name: 'nulledFields', type: TEXT_LIST },
    { name: 'diffFields', type: TEXT_LIST },
    { name: 'changedFields', type: TEXT_LIST },
  ],
};

/** Returns the ID of the schema, which is a hash of it, as in Salesforce. */
export function hashEventSchema(entityName: string): string {
  return createHash('md5')
    .update(JSON.stringify(createEventSchema(entityName)))
    .digest('base64url');
}

/** Larger than the integers that a JavaScript number represents exactly. */
const COMMIT_NUMBER = 9_007_199_254_740_993n;

export function encodeEvent(change: ChangeEvent, now: Date, sequence: number): Buffer {
  const { entityName, changeType, recordIds, fields = {} } = change;
  const header = {
    ...{ entityName, changeType, recordIds, changeOrigin: 'com/salesforce/api' },
    transactionKey: change.transactionKey ?? `key-${sequence}`,
    sequenceNumber: 1,
    commitTimestamp: change.commitTimestamp ?? now.getTime(),
    ...{ commitNumber: COMMIT_NUMBER, commitUser: '005000000000001AAA' },
    ...{ nulledFields: [], diffFields: [], changedFields: encodeBitmaps(change) },
  };
  return avro.Type.forSchema(createEventSchema(entityName), {
    registry: { long: BIGINT_TYPE },
  }).toBuffer({
    ChangeEventHeader: header,
    ...fields,
  });
}

/** Encodes 64-bit integers, because Avro's own type is limited to JavaScript numbers. */
const BIGINT_TYPE = avro.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer(value: number | bigint) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(value));
    return bytes;
  },
  fromJSON: BigInt,
  toJSON: String,
  isValid: (value: unknown) => typeof value === 'number' || typeof value === 'bigint',
  compare: () => 0,
});

function encodeBitmaps({ entityName, changeType, fields = {} }: ChangeEvent): string[] {
  if (changeType !== 'UPDATE') return [];
  const fieldNames = ['ChangeEventHeader', ...(FIELDS_BY_ENTITY[entityName] ?? [])];
  const changed = Object.entries(fields);
  const isWhole = (name: string, value: unknown) =>
    typeof value !== 'object' || !findFieldParts(entityName, name);
  const wholeIndexes = changed.flatMap(([name, value]) =>
    isWhole(name, value) ? fieldNames.indexOf(name) : [],
  );
  const parts = changed.flatMap(([name, value]) => {
    if (isWhole(name, value)) return [];
    const names = findFieldParts(entityName, name) ?? [];
    const partIndexes = Object.keys(value as object).map((part) => names.indexOf(part));
    return `${fieldNames.indexOf(name)}-${encodeBitmap(partIndexes)}`;
  });
  return [encodeBitmap(wholeIndexes), ...parts];
}

function encodeBitmap(indexes: number[]): string {
  const bits = indexes.reduce((sum, index) => sum | (1n << BigInt(index)), 0n);
  return `0x${bits.toString(16).toUpperCase()}`;
}
