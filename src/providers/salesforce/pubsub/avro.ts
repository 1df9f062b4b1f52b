/** Decodes events, which Salesforce encodes in Avro with schemas that the service provides. */
import avro, { type schema, type Type } from 'avsc';

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
export function listFields(type: Type): { name: string; type: Type }[] {
  return type instanceof avro.types.RecordType ? [...type.fields] : [];
}

/** Returns the record type inside the type of a nullable field. */
export function unwrapRecordType(type: Type): Type {
  const isUnion =
    type instanceof avro.types.UnwrappedUnionType || type instanceof avro.types.WrappedUnionType;
  if (!isUnion) return type;
  return type.types.find((branch: Type) => branch instanceof avro.types.RecordType) ?? type;
}
