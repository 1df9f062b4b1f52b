/** The declaration of one object: its lists, writes and fields. */
import { z } from 'zod';
import { DAY_MS } from '../../../work/durations.ts';
import { FIELD_VALUE_TYPES } from '../../contract.ts';
import { VALUE_CONVERSIONS } from '../conversions/value-conversions.ts';
import { listDeclaration, paging, selectedFields } from './list-declaration.ts';
import { nameRule } from './name-rule.ts';
import {
  checkName,
  headerMap,
  jsonObject,
  pathTemplate,
  pointer,
  requestLocation,
  stringMap,
  timeFormat,
} from './request-location.ts';

const successMember = z
  .strictObject({ at: pointer, value: z.union([z.string(), z.boolean()]) })
  .describe('A member of a response, and its value on success.');

export const write = z
  .strictObject({
    method: z.enum(['POST', 'PUT', 'PATCH']),
    path: pathTemplate,
    query: stringMap,
    headers: headerMap,
    bodyRecord: pointer.default('').describe('Where the body holds the record.'),
    body: jsonObject
      .default({})
      .describe(
        'The other members of the body. A string that consists only of `{name}` is replaced as in paths.',
      ),
    isStringified: z
      .boolean()
      .default(false)
      .describe('True if the body holds the record as a JSON string.'),
    allowedFields: z
      .array(z.string())
      .optional()
      .describe(
        'The fields that a write may set. Declare them if the vendor silently ignores others.',
      ),
    bodyId: pointer.optional().describe("Where the body repeats the record's id."),
    responseRecord: pointer.optional().describe('Where the response holds the record, if it does.'),
    responseRecordId: pointer
      .optional()
      .describe("Where `responseRecord` holds its id. Default: the object's `id`."),
    returnsNoId: z
      .boolean()
      .default(false)
      .describe(
        "True if the response lacks the created record's id. The outcome is then a success without an id.",
      ),
    refusalReasons: pointer
      .optional()
      .describe('Where a response with a success status holds the reasons of a refusal.'),
    success: successMember
      .optional()
      .describe(
        'The member of the response that means success, for vendors that return 200 for a failure.',
      ),
  })
  .describe('The request that creates or updates a record, and its response.');
export type Write = z.output<typeof write>;

const removal = z
  .strictObject({
    method: z.enum(['DELETE', 'PATCH', 'PUT', 'POST']).default('DELETE'),
    path: pathTemplate,
    query: stringMap,
    headers: headerMap,
    body: jsonObject.optional(),
    bodyId: pointer.optional(),
    refusalReasons: pointer.optional(),
    success: successMember.optional(),
  })
  .describe('The request that deletes a record.');

export const batch = z
  .strictObject({
    method: z.enum(['POST', 'PUT', 'PATCH']),
    path: pathTemplate,
    query: stringMap,
    body: jsonObject.default({}),
    bodyRecords: pointer.describe('Where the body holds the list of records.'),
    outcomes: pointer.describe('Where the response holds the outcomes.'),
    success: successMember.describe('The member of an outcome that means success, and its value.'),
    recordId: pointer.describe("Where an outcome holds the record's id."),
    record: pointer.optional().describe('Where an outcome holds the record.'),
    errors: z.array(pointer).min(1).describe('Where an outcome holds error messages.'),
    partialSuccessQuery: z
      .record(z.string(), z.string())
      .optional()
      .describe(
        'Query parameters that make the vendor write the valid records even if others are refused.',
      ),
  })
  .describe(
    'A request that writes many records. The response has their outcomes in the same order.',
  );
export type Batch = z.output<typeof batch>;

const idLookup = z
  .strictObject({
    method: z.enum(['GET', 'POST']).default('GET'),
    path: pathTemplate,
    query: stringMap,
    body: jsonObject.optional(),
    ids: z
      .strictObject({
        ...requestLocation.shape,
        isList: z
          .boolean()
          .default(false)
          .describe('True if the ids are a JSON list in the body instead of one string.'),
        max: z.int().positive(),
        part: z
          .string()
          .optional()
          .describe('The part of each id that the request lists, if ids have several parts.'),
      })
      .superRefine(checkName)
      .optional()
      .describe('How a request lists several ids: joined by commas, unless `isList` is set.'),
    records: pointer.describe('Where the response holds the record, or the list of records.'),
    selectedFields: selectedFields.optional(),
    deletionFlag: pointer.optional().describe('A flag that only deleted records have.'),
  })
  .describe('The request that reads records by id: one record, or several if `ids` is declared.');
export type IdLookup = z.output<typeof idLookup>;

const count = z
  .strictObject({ path: pathTemplate, query: stringMap, at: pointer })
  .describe(
    'The request that counts the records, for the progress of a read. The response holds the count at `at`.',
  );

const fieldList = z
  .strictObject({
    path: pathTemplate,
    query: stringMap,
    paging: paging.optional().describe('Default: one response has all fields.'),
    fields: pointer,
    name: pointer,
    prefix: z
      .string()
      .default('')
      .describe('The prefix of the name in records, such as `custom.`.'),
    displayName: pointer.optional(),
    type: pointer.optional(),
    types: z
      .record(z.string(), z.enum(FIELD_VALUE_TYPES))
      .default({})
      .describe("The type for each of the vendor's types. Types that are not listed are OTHER."),
    isRequired: pointer.optional(),
    isCustom: pointer.optional(),
    isWritable: pointer.optional().describe('A flag that is true if the field can be written.'),
    isReadOnly: pointer.optional(),
    options: z.strictObject({ at: pointer, value: pointer, displayValue: pointer }).optional(),
  })
  .describe("The account's own list of fields: standard and custom ones.");
export type FieldList = z.output<typeof fieldList>;

const cutLists = z
  .strictObject({
    members: z
      .array(z.string())
      .min(1)
      .describe(
        'The members of a value that may hold such a list. The returned items have the same member.',
      ),
    itemsMax: z
      .int()
      .positive()
      .describe('A list with this number of items may be cut, unless its value has the flag.'),
    isCut: pointer.describe(
      'A flag of a value that is true if its list is cut, and false if it is not. Some values have none.',
    ),
    valueId: pointer.describe(
      "Where a value holds its id. The path refers to it by `{value}`, and to the record's id by `{id}`.",
    ),
    path: pathTemplate,
    query: stringMap,
    items: pointer,
    next: pointer.describe(
      'Where the response holds the cursor of the next page, and the query parameter for it.',
    ),
    cursorParameter: z.string(),
  })
  .describe(
    'Lists inside values that the vendor cuts, and the request that returns the items of one list in pages.',
  );
export type CutLists = z.output<typeof cutLists>;

export const nestedFields = z
  .strictObject({
    at: pointer,
    names: nameRule
      .optional()
      .describe('Writes put fields with these names into the map or list. Default: none.'),
    entries: z
      .strictObject({
        name: pointer,
        value: pointer,
        writeFormat: z.enum(['list', 'map']),
        omittedInList: z
          .strictObject({
            type: pointer.describe('Where an entry holds its type, and the types without a value.'),
            types: z.array(z.string()).min(1),
            value: pointer.describe(
              'Where an entry of a record that is read by id holds the value.',
            ),
          })
          .optional()
          .describe(
            "Entries without a value in the object's list. If such a field is requested, the record is read by id.",
          ),
      })
      .optional()
      .describe('Declared if the fields are a list of names and values.'),
    cutLists: cutLists.optional(),
    conversion: z
      .enum(VALUE_CONVERSIONS)
      .optional()
      .describe(
        "The named step that converts values between the vendor's own form and plain values.",
      ),
  })
  .describe(
    "A map or list of fields inside a record. They are read and written like the record's other fields.",
  );
export type NestedFields = z.output<typeof nestedFields>;

const idParts = z
  .strictObject({
    parts: z.record(
      z.string().regex(/^\w+$/),
      z.union([
        pointer,
        /** The last segments of a path or URL, for example 2 for `owner/name`. */
        z.strictObject({ at: pointer, lastSegments: z.int().min(1).max(5) }),
      ]),
    ),
    separator: z.string().min(1),
  })
  .describe('An id of several parts, joined by a separator. Paths refer to the parts by name.');
export type IdParts = z.output<typeof idParts>;

const nestedListRead = z
  .strictObject({
    field: z.string().describe("The record's field that contains the list."),
    at: pointer.describe('Where the record holds the items.'),
    hasMore: pointer.describe(
      'Where the record holds a flag that is true if the list has more items.',
    ),
    itemId: pointer.default('/id').describe('Where an item holds its id.'),
    list: listDeclaration.describe(
      "The endpoint of the list. It refers to the record's id by `{id}`, as `byIds` does.",
    ),
  })
  .describe(
    "A list inside a record of which the vendor returns only the first items. If a read selects `field`, the gateway reads the whole list from its own endpoint. `behavior.nestedLists` names it too, with `otherItems: 'read'`.",
  );
export type NestedListRead = z.output<typeof nestedListRead>;

export const objectDeclaration = z.strictObject({
  displayName: z.string().min(1).max(200),
  aliases: z
    .array(z.string())
    .default([])
    .describe('Other names of the object in manifests, as in the catalog of the reference API.'),
  id: z.union([pointer, idParts]).default('/id').describe('Where a record holds its id.'),
  changedAt: z
    .strictObject({
      at: pointer,
      format: timeFormat,
      precisionMs: z
        .int()
        .positive()
        .max(DAY_MS)
        .default(1)
        .describe('The precision of the time. Two changes within this interval get the same time.'),
    })
    .optional()
    .describe('When a record last changed. An incremental read compares it with its bounds.'),
  parent: z
    .strictObject({ object: z.string(), variable: z.string() })
    .optional()
    .describe(
      "The parent object: each of its records has its own list. Paths refer to the parent's id by `{variable}`.",
    ),
  nestedFields: z.array(nestedFields).default([]),
  nestedLists: z.array(nestedListRead).default([]),
  list: listDeclaration,
  incrementalList: listDeclaration
    .extend({
      fullReadQuery: z
        .record(z.string(), z.string())
        .optional()
        .describe(
          'Query parameters that make this list return all records. Set if `list` omits some: full reads then use this list.',
        ),
    })
    .optional()
    .describe('The list for incremental reads, if it differs.'),
  deepList: listDeclaration
    .optional()
    .describe(
      'The list of all records that continues a read where `behavior.depthLimit` ends `list`. It may repeat records.',
    ),
  byIds: idLookup.optional(),
  count: count.optional(),
  create: write.optional(),
  update: write.optional(),
  remove: removal.optional(),
  createMany: batch.optional(),
  updateMany: batch.optional(),
  standardFields: z
    .record(z.string(), z.enum(FIELD_VALUE_TYPES))
    .optional()
    .describe('Fields that every account has.'),
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
