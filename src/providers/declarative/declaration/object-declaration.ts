/** The declaration of one object: its lists, writes and fields. */
import { z } from 'zod';
import { FIELD_VALUE_TYPES } from '../../contract.ts';
import { list, selectedFields } from './list-declaration.ts';
import { json, path, pointer, requestLocation, texts, timeFormat } from './request-location.ts';

/** A member of a response, and its value on success. */
const success = z.strictObject({ at: pointer, value: z.union([z.string(), z.boolean()]) });

/** The request that writes a record, and its response. */
const write = z.strictObject({
  method: z.enum(['POST', 'PUT', 'PATCH']),
  path,
  query: texts,
  headers: texts,
  /** Where the body holds the record. */
  wrap: pointer.default(''),
  /** The other members of the body. A string that consists only of `{name}` is replaced as in paths. */
  body: json.default({}),
  /** The record is sent as a JSON string. */
  encoded: z.boolean().default(false),
  /** The members that a record may have. Needed if the vendor silently ignores others. */
  takes: z.array(z.string()).optional(),
  /** Where the body repeats the record's id. */
  id: pointer.optional(),
  /** Where the response holds the record, if it does. */
  record: pointer.optional(),
  /** Where the record of the response holds its id. Default: as in lists. */
  recordId: pointer.optional(),
  /** The vendor does not return the created record's id, so the outcome is a success without an id. */
  isUnnamed: z.boolean().default(false),
  /** Where a successful response holds the reason of a refusal. */
  refusals: pointer.optional(),
  /** The member of the response that means success. */
  success: success.optional(),
});
export type Write = z.output<typeof write>;

const removal = z.strictObject({
  method: z.enum(['DELETE', 'PATCH', 'PUT', 'POST']).default('DELETE'),
  path,
  query: texts,
  headers: texts,
  body: json.optional(),
  id: pointer.optional(),
  refusals: pointer.optional(),
  success: success.optional(),
});
export type Removal = z.output<typeof removal>;

/** A request that writes many records. The response has their outcomes in the same order. */
const batch = z.strictObject({
  method: z.enum(['POST', 'PUT', 'PATCH']),
  path,
  query: texts,
  body: json.default({}),
  /** Where the body holds the list of records. */
  records: pointer,
  /** Where the response holds the outcomes. */
  outcomes: pointer,
  /** The member of an outcome that means success, and its value. */
  success,
  recordId: pointer,
  record: pointer.optional(),
  errors: z.array(pointer).min(1),
  /** Query parameters that make the vendor write the valid records even if others are refused. */
  partial: z.record(z.string(), z.string()).optional(),
});
export type Batch = z.output<typeof batch>;

/** Reads records by id: one request for each record, or for many if `ids` is given. */
const fetching = z.strictObject({
  method: z.enum(['GET', 'POST']).default('GET'),
  path,
  query: texts,
  body: json.optional(),
  /** How a request lists several ids. */
  ids: z
    .strictObject({
      ...requestLocation.shape,
      template: z.string().includes('{id}').default('{id}'),
      separator: z.string().default(','),
      wrap: z.string().includes('{ids}').default('{ids}'),
      /** The ids are a list in the body instead of a text. */
      isList: z.boolean().default(false),
      max: z.int().positive(),
    })
    .optional(),
  /** Where the response holds the record, or the list of records. */
  records: pointer,
  fields: selectedFields.optional(),
  /** Present in deleted records only. */
  gone: pointer.optional(),
});
export type Fetching = z.output<typeof fetching>;

/** The request that counts the records, for the progress of a read. */
const count = z.strictObject({ path, query: texts, at: pointer });
export type Count = z.output<typeof count>;

/** The account's own list of fields: standard and custom ones. */
const fieldList = z.strictObject({
  path,
  query: texts,
  fields: pointer,
  name: pointer,
  /** The prefix of the name in records, such as `custom.`. */
  prefix: z.string().default(''),
  displayName: pointer.optional(),
  type: pointer.optional(),
  /** Maps the vendor's types. All others are OTHER. */
  types: z.record(z.string(), z.enum(FIELD_VALUE_TYPES)).default({}),
  isRequired: pointer.optional(),
  isCustom: pointer.optional(),
  /** A flag that is true if the field can be written. */
  isWritable: pointer.optional(),
  isReadOnly: pointer.optional(),
  options: z.strictObject({ at: pointer, value: pointer, displayValue: pointer }).optional(),
});
export type FieldList = z.output<typeof fieldList>;

/** Fields in a map or list inside a record. They are shown as fields of the record. */
const nested = z.strictObject({
  at: pointer,
  /** Names of fields that writes put into the map or list. */
  names: z.instanceof(RegExp).optional(),
  /** The fields are a list of `{ id, value }`. Writes send a list or a map. */
  entries: z
    .strictObject({ name: pointer, value: pointer, writes: z.enum(['list', 'map']) })
    .optional(),
  /** Converts a vendor's value, if the conversion cannot be declared. */
  read: z.custom<(value: unknown) => unknown>((value) => typeof value === 'function').optional(),
  /** Adds fields under other names, if records name the same field differently. */
  alias: z
    .custom<(fields: Record<string, unknown>) => Record<string, unknown>>(
      (value) => typeof value === 'function',
    )
    .optional(),
  /** Converts a value for a write. */
  write: z
    .custom<(value: unknown, name: string) => unknown>((value) => typeof value === 'function')
    .optional(),
});
export type Nested = z.output<typeof nested>;

/** An id of several parts, joined by a separator. Paths refer to the parts by name. */
const idParts = z.strictObject({
  parts: z.record(
    z.string().regex(/^\w+$/),
    z.union([
      pointer,
      /** The first group of a pattern, for example the end of a URL. */
      z.strictObject({ at: pointer, pattern: z.instanceof(RegExp) }),
    ]),
  ),
  separator: z.string().min(1),
});
export type IdParts = z.output<typeof idParts>;

export const objectDeclaration = z.strictObject({
  displayName: z.string(),
  /** Other names of the object in manifests, as in the catalogue of the reference API. */
  aliases: z.array(z.string()).default([]),
  /** Where a record holds its id. */
  id: z.union([pointer, idParts]).default('/id'),
  /** When a record last changed. An incremental read compares it with its bounds. */
  changedAt: z
    .strictObject({
      at: pointer,
      format: timeFormat,
      /** The precision of the time. Changes within it have the same time. */
      precisionMs: z.int().positive().default(1),
    })
    .optional(),
  /** The parent object, whose records each have a list. Paths refer to the parent's id by `as`. */
  parent: z.strictObject({ object: z.string(), as: z.string() }).optional(),
  nested: z.array(nested).default([]),
  all: list,
  /** The list for incremental reads, if it differs. */
  changed: list
    .extend({
      /** A full read also uses this list, with this query added, because the list `all` omits records. */
      whole: z.strictObject({ query: texts }).optional(),
    })
    .optional(),
  byIds: fetching.optional(),
  count: count.optional(),
  create: write.optional(),
  update: write.optional(),
  remove: removal.optional(),
  createMany: batch.optional(),
  updateMany: batch.optional(),
  /** Fields that every account has. */
  standardFields: z.record(z.string(), z.enum(FIELD_VALUE_TYPES)).optional(),
  fields: fieldList.optional(),
});
export type ObjectDeclaration = z.output<typeof objectDeclaration>;
export type ObjectDeclarationInput = z.input<typeof objectDeclaration>;
export type ListInput = ObjectDeclarationInput['all'];
export type StandardFields = NonNullable<ObjectDeclarationInput['standardFields']>;
