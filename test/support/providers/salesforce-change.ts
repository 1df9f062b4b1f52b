/** Change events of the Salesforce test server: their schemas and bytes, as Change Data Capture has them. */
import { createHash } from 'node:crypto';
import avro, { type schema } from 'avsc';

export interface ChangeToTell {
  entityName: string;
  changeType: string;
  recordIds: string[];
  /** Values of what has changed, by field; those of an address or a name by their parts. */
  fields?: Record<string, unknown>;
  transactionKey?: string;
  commitTimestamp?: number;
}

/** The last two are compound: they change in parts. */
const PARTS = {
  Name: ['Salutation', 'FirstName', 'LastName'],
  MailingAddress: ['Street', 'City', 'PostalCode'],
} as const;
const FIELDS: Record<string, readonly string[]> = {
  Contact: ['Email', 'Phone', 'AccountId', 'Name', 'MailingAddress'],
  Account: ['Name', 'Website', 'Description'],
};

const TEXT: schema.AvroSchema = ['null', 'string'];
const TEXTS: schema.AvroSchema = { type: 'array', items: 'string' };

export function schemaOf(entityName: string): schema.AvroSchema {
  const fields = (FIELDS[entityName] ?? []).map((name) => ({
    name,
    type: typeOf(entityName, name),
    default: null,
  }));
  return {
    type: 'record',
    name: `${entityName}ChangeEvent`,
    namespace: 'com.sforce.eventbus',
    fields: [{ name: 'ChangeEventHeader', type: HEADER }, ...fields],
  };
}

function typeOf(entityName: string, name: string): schema.AvroSchema {
  const parts = partsOf(entityName, name);
  if (!parts) return TEXT;
  const fields = parts.map((part) => ({ name: part, type: TEXT, default: null }));
  return [
    ...(name === 'Name' ? (['null', 'string'] as const) : (['null'] as const)),
    {
      type: 'record',
      name: `${entityName}${name}`,
      fields,
    },
  ];
}

function partsOf(entityName: string, name: string): readonly string[] | undefined {
  return entityName === 'Contact' ? PARTS[name as keyof typeof PARTS] : undefined;
}

const HEADER: schema.AvroSchema = {
  type: 'record',
  name: 'ChangeEventHeader',
  fields: [
    { name: 'entityName', type: 'string' },
    { name: 'recordIds', type: TEXTS },
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
    { name: 'nulledFields', type: TEXTS },
    { name: 'diffFields', type: TEXTS },
    { name: 'changedFields', type: TEXTS },
  ],
};

/** Names the schema, as the service does: a hash of it. */
export function schemaIdOf(entityName: string): string {
  return createHash('md5')
    .update(JSON.stringify(schemaOf(entityName)))
    .digest('base64url');
}

/** Beyond what a number of JavaScript holds exactly. */
const COMMIT_NUMBER = 9_007_199_254_740_993n;

export function payloadOf(change: ChangeToTell, now: Date, sequence: number): Buffer {
  const { entityName, changeType, recordIds, fields = {} } = change;
  const header = {
    ...{ entityName, changeType, recordIds, changeOrigin: 'com/salesforce/api' },
    transactionKey: change.transactionKey ?? `key-${sequence}`,
    sequenceNumber: 1,
    commitTimestamp: change.commitTimestamp ?? now.getTime(),
    ...{ commitNumber: COMMIT_NUMBER, commitUser: '005000000000001AAA' },
    ...{ nulledFields: [], diffFields: [], changedFields: bitmapsOf(change) },
  };
  return avro.Type.forSchema(schemaOf(entityName), { registry: { long: LONG } }).toBuffer({
    ChangeEventHeader: header,
    ...fields,
  });
}

/** Avro's own numbers are those of JavaScript. */
const LONG = avro.types.LongType.__with({
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

function bitmapsOf({ entityName, changeType, fields = {} }: ChangeToTell): string[] {
  if (changeType !== 'UPDATE') return [];
  const all = ['ChangeEventHeader', ...(FIELDS[entityName] ?? [])];
  const changed = Object.entries(fields);
  const isWhole = (name: string, value: unknown) =>
    typeof value !== 'object' || !partsOf(entityName, name);
  const whole = changed.flatMap(([name, value]) => (isWhole(name, value) ? all.indexOf(name) : []));
  const parts = changed.flatMap(([name, value]) => {
    if (isWhole(name, value)) return [];
    const names = partsOf(entityName, name) ?? [];
    const places = Object.keys(value as object).map((part) => names.indexOf(part));
    return `${all.indexOf(name)}-${bitmap(places)}`;
  });
  return [bitmap(whole), ...parts];
}

function bitmap(places: number[]): string {
  const bits = places.reduce((sum, place) => sum | (1n << BigInt(place)), 0n);
  return `0x${bits.toString(16).toUpperCase()}`;
}
