/** What a declaration says of one object: how it is listed, written and described. */
import { z } from 'zod';
import { FIELD_VALUE_TYPES } from '../../contract.ts';
import { list, wantedFields } from './list-declaration.ts';
import { json, path, place, pointer, texts, timeFormat } from './place.ts';

/** A member of an answer, and its value if all went well. */
const success = z.strictObject({ at: pointer, value: z.union([z.string(), z.boolean()]) });

/** How a record is sent and what comes back. */
const write = z.strictObject({
  method: z.enum(['POST', 'PUT', 'PATCH']),
  path,
  query: texts,
  headers: texts,
  /** Where the record goes in the body. */
  wrap: pointer.default(''),
  /** What the body has beside it; a text that is `{name}` alone stands for what paths have by that name. */
  body: json.default({}),
  /** The record is sent as JSON in a text. */
  encoded: z.boolean().default(false),
  /** The members that a record may have beside those, if the vendor would leave others out without a word. */
  takes: z.array(z.string()).optional(),
  /** Where the body has the record's id too. */
  id: pointer.optional(),
  /** Where the answer has the record; left out if it has none. */
  record: pointer.optional(),
  /** Where that has the id, if it is another place than in a list. */
  recordId: pointer.optional(),
  /** The vendor never answers which record it created: the outcome is a success without an ID. */
  isUnnamed: z.boolean().default(false),
  /** Where a successful answer says why it did nothing. */
  refusals: pointer.optional(),
  /** What a successful answer has if the record was written. */
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

/** Many records in one request, and an outcome for each of them in the same order. */
const batch = z.strictObject({
  method: z.enum(['POST', 'PUT', 'PATCH']),
  path,
  query: texts,
  body: json.default({}),
  /** Where the list of records goes. */
  records: pointer,
  /** Where an answer has the outcomes. */
  outcomes: pointer,
  /** The member of an outcome that tells success, and its value then. */
  success,
  recordId: pointer,
  record: pointer.optional(),
  errors: z.array(pointer).min(1),
  /** Asks the vendor to write what it can; left out if it always does. Without it one refusal refuses all. */
  partial: z.record(z.string(), z.string()).optional(),
});
export type Batch = z.output<typeof batch>;

/** Records by their ids: one request for each, or for many where `ids` says how they are named. */
const fetching = z.strictObject({
  method: z.enum(['GET', 'POST']).default('GET'),
  path,
  query: texts,
  body: json.optional(),
  /** How many are asked for at once: the whole list, with each id in its template. */
  ids: z
    .strictObject({
      ...place.shape,
      template: z.string().includes('{id}').default('{id}'),
      separator: z.string().default(','),
      wrap: z.string().includes('{ids}').default('{ids}'),
      /** A list in the body rather than a text. */
      isList: z.boolean().default(false),
      max: z.int().positive(),
    })
    .optional(),
  /** Where the answer has the record, or the list of them. */
  records: pointer,
  fields: wantedFields.optional(),
  /** Something that only records that are gone have. */
  gone: pointer.optional(),
});
export type Fetching = z.output<typeof fetching>;

/** Asks how many records there are; a read shows its progress by it. */
const count = z.strictObject({ path, query: texts, at: pointer });
export type Count = z.output<typeof count>;

/** Fields that the account tells: standard and custom ones. */
const fieldList = z.strictObject({
  path,
  query: texts,
  fields: pointer,
  name: pointer,
  /** Before the name, if records have the field under a longer one: `custom.`. */
  prefix: z.string().default(''),
  displayName: pointer.optional(),
  type: pointer.optional(),
  /** The vendor's types as ours; others are OTHER. */
  types: z.record(z.string(), z.enum(FIELD_VALUE_TYPES)).default({}),
  isRequired: pointer.optional(),
  isCustom: pointer.optional(),
  /** A flag that the field can be written. */
  isWritable: pointer.optional(),
  isReadOnly: pointer.optional(),
  options: z.strictObject({ at: pointer, value: pointer, displayValue: pointer }).optional(),
});
export type FieldList = z.output<typeof fieldList>;

/** Fields in a map or list of their own inside a record, which count as the record's own. */
const nested = z.strictObject({
  at: pointer,
  /** A write puts back there what has such a name. */
  names: z.instanceof(RegExp).optional(),
  /** A list of `{ id, value }`, and whether it is written as one or as a map. */
  entries: z
    .strictObject({ name: pointer, value: pointer, writes: z.enum(['list', 'map']) })
    .optional(),
  /** What a vendor's value stands for, if that can't be described as data. */
  read: z.custom<(value: unknown) => unknown>((value) => typeof value === 'function').optional(),
  /** A further name of a field, and the field that has it, if each record may name it differently. */
  alias: z
    .custom<(fields: Record<string, unknown>) => Record<string, unknown>>(
      (value) => typeof value === 'function',
    )
    .optional(),
  /** How a value is written, if not as it is. */
  write: z
    .custom<(value: unknown, name: string) => unknown>((value) => typeof value === 'function')
    .optional(),
});
export type Nested = z.output<typeof nested>;

/** An id of several parts is written with a separator between them; paths take the parts by name. */
const idParts = z.strictObject({
  parts: z.record(
    z.string().regex(/^\w+$/),
    z.union([
      pointer,
      /** What the first group of a pattern finds there: the end of an address, say. */
      z.strictObject({ at: pointer, pattern: z.instanceof(RegExp) }),
    ]),
  ),
  separator: z.string().min(1),
});
export type IdParts = z.output<typeof idParts>;

export const objectDeclaration = z.strictObject({
  displayName: z.string(),
  /** Other names that manifests use for the object, as the reference API's catalogue does. */
  aliases: z.array(z.string()).default([]),
  /** Where a record has its id. */
  id: z.union([pointer, idParts]).default('/id'),
  /** When a record was last changed; a read of changes keeps to its bounds by it. */
  changedAt: z
    .strictObject({
      at: pointer,
      format: timeFormat,
      /** The vendor cuts the time to so much: what changes within it has the same one. */
      precisionMs: z.int().positive().default(1),
    })
    .optional(),
  /** Listed below each record of another object; paths have that one's id by this name. */
  parent: z.strictObject({ object: z.string(), as: z.string() }).optional(),
  nested: z.array(nested).default([]),
  all: list,
  /** Another way for what changed, if the vendor has one. */
  changed: list
    .extend({
      /** The list of all leaves records out: a read of all goes this way too, with this query beside its own. */
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
  known: z.record(z.string(), z.enum(FIELD_VALUE_TYPES)).optional(),
  fields: fieldList.optional(),
});
export type ObjectDeclaration = z.output<typeof objectDeclaration>;
export type ObjectDeclarationInput = z.input<typeof objectDeclaration>;
