/** Events are Avro, each by a schema that the service tells. */
import avro, { type schema, type Type } from 'avsc';

/** Numbers as far as they are exact; larger ones are text, as in Salesforce's own JSON. */
const longType = avro.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => exact(bytes.readBigInt64LE()),
  toBuffer(value: number | string) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(value));
    return bytes;
  },
  fromJSON: (value: unknown) => value,
  toJSON: (value: unknown) => value,
  isValid: (value: unknown) => typeof value === 'number' || typeof value === 'string',
  compare: (one: number | string, other: number | string) => Number(BigInt(one) - BigInt(other)),
});

function exact(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/** Throws if it is no schema. */
export function eventType(schemaJson: string): Type {
  return avro.Type.forSchema(JSON.parse(schemaJson) as schema.AvroSchema, {
    registry: { long: longType },
  });
}

/** A record's fields, in the order by which bitmaps name them; none if the type is no record. */
export function fieldsOf(type: Type): { name: string; type: Type }[] {
  return type instanceof avro.types.RecordType ? [...type.fields] : [];
}

/** The record among the types of a field that may be null. */
export function recordIn(type: Type): Type {
  const isUnion =
    type instanceof avro.types.UnwrappedUnionType || type instanceof avro.types.WrappedUnionType;
  if (!isUnion) return type;
  return type.types.find((one: Type) => one instanceof avro.types.RecordType) ?? type;
}
