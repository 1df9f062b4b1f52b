/** The declaration of one object: its lists, writes and fields. */
import { z } from 'zod';
import { FIELD_VALUE_TYPES } from '../../contract.ts';
import { listDeclaration, selectedFields } from './list-declaration.ts';
import {
  jsonObject,
  pathTemplate,
  pointer,
  requestLocation,
  stringMap,
  timeFormat,
} from './request-location.ts';

/** A member of a response, and its value on success. */
const successMember = z.strictObject({ at: pointer, value: z.union([z.string(), z.boolean()]) });

/** The request that creates or updates a record, and its response. */
const write = z.strictObject({
  method: z.enum(['POST', 'PUT', 'PATCH']),
  path: pathTemplate,
  query: stringMap,
  headers: stringMap,
  /** Where the body holds the record. */
  bodyRecord: pointer.default(''),
  /** The other members of the body. A string that consists only of `{name}` is replaced as in paths. */
  body: jsonObject.default({}),
  /** True if the body holds the record as a JSON string. */
  isStringified: z.boolean().default(false),
  /** The fields that a write may set. Declare them if the vendor silently ignores others. */
  allowedFields: z.array(z.string()).optional(),
  /** Where the body repeats the record's id. */
  bodyId: pointer.optional(),
  /** Where the response holds the record, if it does. */
  responseRecord: pointer.optional(),
  /** Where `responseRecord` holds its id. Default: the object's `id`. */
  responseRecordId: pointer.optional(),
  /** True if the response lacks the created record's id. The outcome is then a success without an id. */
  returnsNoId: z.boolean().default(false),
  /** Where a response with a success status holds the reasons of a refusal. */
  refusalReasons: pointer.optional(),
  /** The member of the response that means success, for vendors that return 200 for a failure. */
  success: successMember.optional(),
});
export type Write = z.output<typeof write>;

/** The request that deletes a record. */
const removal = z.strictObject({
  method: z.enum(['DELETE', 'PATCH', 'PUT', 'POST']).default('DELETE'),
  path: pathTemplate,
  query: stringMap,
  headers: stringMap,
  body: jsonObject.optional(),
  bodyId: pointer.optional(),
  refusalReasons: pointer.optional(),
  success: successMember.optional(),
});

/** A request that writes many records. The response has their outcomes in the same order. */
const batch = z.strictObject({
  method: z.enum(['POST', 'PUT', 'PATCH']),
  path: pathTemplate,
  query: stringMap,
  body: jsonObject.default({}),
  /** Where the body holds the list of records. */
  bodyRecords: pointer,
  /** Where the response holds the outcomes. */
  outcomes: pointer,
  /** The member of an outcome that means success, and its value. */
  success: successMember,
  /** Where an outcome holds the record's id. */
  recordId: pointer,
  /** Where an outcome holds the record. */
  record: pointer.optional(),
  /** Where an outcome holds error messages. */
  errors: z.array(pointer).min(1),
  /** Query parameters that make the vendor write the valid records even if others are refused. */
  partialSuccessQuery: z.record(z.string(), z.string()).optional(),
});
export type Batch = z.output<typeof batch>;

/** The request that reads records by id: one record, or several if `ids` is declared. */
const idLookup = z.strictObject({
  method: z.enum(['GET', 'POST']).default('GET'),
  path: pathTemplate,
  query: stringMap,
  body: jsonObject.optional(),
  /** How a request lists several ids: joined by commas, unless `isList` is set. */
  ids: z
    .strictObject({
      ...requestLocation.shape,
      /** True if the ids are a JSON list in the body instead of one string. */
      isList: z.boolean().default(false),
      max: z.int().positive(),
      /** The part of each id that the request lists, if ids have several parts. */
      part: z.string().optional(),
    })
    .optional(),
  /** Where the response holds the record, or the list of records. */
  records: pointer,
  selectedFields: selectedFields.optional(),
  /** A flag that only deleted records have. */
  deletionFlag: pointer.optional(),
});
export type IdLookup = z.output<typeof idLookup>;

/** The request that counts the records, for the progress of a read. The response holds the count at `at`. */
const count = z.strictObject({ path: pathTemplate, query: stringMap, at: pointer });

/** The account's own list of fields: standard and custom ones. */
const fieldList = z.strictObject({
  path: pathTemplate,
  query: stringMap,
  fields: pointer,
  name: pointer,
  /** The prefix of the name in records, such as `custom.`. */
  prefix: z.string().default(''),
  displayName: pointer.optional(),
  type: pointer.optional(),
  /** The type for each of the vendor's types. Types that are not listed are OTHER. */
  types: z.record(z.string(), z.enum(FIELD_VALUE_TYPES)).default({}),
  isRequired: pointer.optional(),
  isCustom: pointer.optional(),
  /** A flag that is true if the field can be written. */
  isWritable: pointer.optional(),
  isReadOnly: pointer.optional(),
  options: z.strictObject({ at: pointer, value: pointer, displayValue: pointer }).optional(),
});
export type FieldList = z.output<typeof fieldList>;

/** Lists inside values that the vendor cuts, and the request that returns the items of one list in pages. */
const cutLists = z.strictObject({
  /** The members of a value that may hold such a list. The returned items have the same member. */
  members: z.array(z.string()).min(1),
  /** A list with this number of items may be cut, unless its value has the flag. */
  itemsMax: z.int().positive(),
  /** A flag of a value that is true if its list is cut, and false if it is not. Some values have none. */
  isCut: pointer,
  /** Where a value holds its id. The path refers to it by `{value}`, and to the record's id by `{id}`. */
  valueId: pointer,
  path: pathTemplate,
  query: stringMap,
  items: pointer,
  /** Where the response holds the cursor of the next page, and the query parameter for it. */
  next: pointer,
  cursorParameter: z.string(),
});
export type CutLists = z.output<typeof cutLists>;

/** A map or list of fields inside a record. They are read and written like the record's other fields. */
const nestedFields = z.strictObject({
  at: pointer,
  /** Writes put fields with these names into the map or list. Default: none. */
  namePattern: z.instanceof(RegExp).optional(),
  /** Declared if the fields are a list of names and values. */
  entries: z
    .strictObject({
      name: pointer,
      value: pointer,
      writeFormat: z.enum(['list', 'map']),
      /** Entries without a value in the object's list. If such a field is requested, the record is read by id. */
      omittedInList: z
        .strictObject({
          /** Where an entry holds its type, and the types without a value. */
          type: pointer,
          types: z.array(z.string()).min(1),
          /** Where an entry of a record that is read by id holds the value. */
          value: pointer,
        })
        .optional(),
    })
    .optional(),
  cutLists: cutLists.optional(),
  /** Converts a vendor's value to a plain value. */
  decode: functionMember<(value: unknown) => unknown>().optional(),
  /** Returns more names for fields whose name differs between records. */
  addAliases:
    functionMember<(fields: Record<string, unknown>) => Record<string, unknown>>().optional(),
  /** Converts a plain value to the vendor's value. */
  encode: functionMember<(value: unknown, name: string) => unknown>().optional(),
});
export type NestedFields = z.output<typeof nestedFields>;

function functionMember<F>() {
  return z.custom<F>((value) => typeof value === 'function');
}

/** An id of several parts, joined by a separator. Paths refer to the parts by name. */
const idParts = z.strictObject({
  parts: z.record(
    z.string().regex(/^\w+$/),
    z.union([
      pointer,
      /** The first group of a pattern, for example the last segment of a URL. */
      z.strictObject({ at: pointer, pattern: z.instanceof(RegExp) }),
    ]),
  ),
  separator: z.string().min(1),
});
export type IdParts = z.output<typeof idParts>;

/**
 * A list inside a record of which the vendor returns only the first items. If a read selects `field`, the gateway reads
 * the whole list from its own endpoint. `behavior.nestedLists` names it too, with `otherItems: 'read'`.
 */
const nestedListRead = z.strictObject({
  /** The record's field that contains the list. */
  field: z.string(),
  /** Where the record holds the items. */
  at: pointer,
  /** Where the record holds a flag that is true if the list has more items. */
  hasMore: pointer,
  /** Where an item holds its id. */
  itemId: pointer.default('/id'),
  /** The endpoint of the list. It refers to the record's id by `{id}`, as `byIds` does. */
  list: listDeclaration,
});
export type NestedListRead = z.output<typeof nestedListRead>;

export const objectDeclaration = z.strictObject({
  displayName: z.string(),
  /** Other names of the object in manifests, as in the catalog of the reference API. */
  aliases: z.array(z.string()).default([]),
  /** Where a record holds its id. */
  id: z.union([pointer, idParts]).default('/id'),
  /** When a record last changed. An incremental read compares it with its bounds. */
  changedAt: z
    .strictObject({
      at: pointer,
      format: timeFormat,
      /** The precision of the time. Two changes within this interval get the same time. */
      precisionMs: z.int().positive().default(1),
    })
    .optional(),
  /** The parent object: each of its records has its own list. Paths refer to the parent's id by `{variable}`. */
  parent: z.strictObject({ object: z.string(), variable: z.string() }).optional(),
  nestedFields: z.array(nestedFields).default([]),
  nestedLists: z.array(nestedListRead).default([]),
  list: listDeclaration,
  /** The list for incremental reads, if it differs. */
  incrementalList: listDeclaration
    .extend({
      /**
       * Query parameters that make this list return all records. Set if `list` omits some: full reads then use this list.
       */
      fullReadQuery: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
  /** The list of all records that continues a read where `behavior.depthLimit` ends `list`. It may repeat records. */
  deepList: listDeclaration.optional(),
  byIds: idLookup.optional(),
  count: count.optional(),
  create: write.optional(),
  update: write.optional(),
  remove: removal.optional(),
  createMany: batch.optional(),
  updateMany: batch.optional(),
  /** Fields that every account has. */
  standardFields: z.record(z.string(), z.enum(FIELD_VALUE_TYPES)).optional(),
  fieldList: fieldList.optional(),
});
/** An object without a list. */
export const writeOnlyObject = objectDeclaration
  .pick({ displayName: true, id: true, nestedFields: true })
  .extend({ create: write });
export type ObjectDeclaration = z.output<typeof objectDeclaration>;
export type ObjectDeclarationInput = z.input<typeof objectDeclaration>;
export type ListInput = ObjectDeclarationInput['list'];
export type StandardFields = NonNullable<ObjectDeclarationInput['standardFields']>;
