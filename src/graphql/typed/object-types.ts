/** The types of an object in a typed API: its records, their pages, and the inputs that select and write them. */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLFloat,
  GraphQLID,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLScalarType,
  GraphQLString,
  type ThunkObjMap,
} from 'graphql';
import type { FieldContract } from '../../domain/data/contract/field-contract.ts';
import {
  type GeneratedObject,
  listCreateFields,
  listReadFields,
  listUpdateFields,
} from '../../domain/data/contract/formats/generated.ts';
import {
  hasOtherFields,
  OTHER_FIELDS,
  SCALARS,
} from '../../domain/data/contract/formats/graphql-names.ts';
import { describeMember, toMemberName } from '../../domain/data/contract/formats/safe-names.ts';
import { findFieldValue, toTypedValue } from '../../domain/data/contract/read-values.ts';
import type { ServedPage } from '../../domain/data/operation/object-records.ts';
import type { AccountRecord } from '../../domain/data/operation/record-search.ts';
import { unprocessable } from '../../kernel/errors.ts';
import {
  DateTimeType,
  DateType,
  JsonObjectType,
  JsonType,
  PageInfoType,
  type RecordInstallation,
  RecordInstallationType,
  toRecordInstallation,
} from './shared-types.ts';

const SCALAR_TYPES: Readonly<Record<(typeof SCALARS)[keyof typeof SCALARS], GraphQLScalarType>> = {
  String: GraphQLString,
  Float: GraphQLFloat,
  Boolean: GraphQLBoolean,
  Date: DateType,
  DateTime: DateTimeType,
  ID: GraphQLID,
  JSON: JsonType,
};

type ItemType = GraphQLScalarType | GraphQLEnumType;

/** A record of a page, or of a message. */
export interface ShownRecord {
  record: AccountRecord;
  installation: RecordInstallation;
}

export interface ObjectTypes {
  record: GraphQLObjectType<ShownRecord>;
  connection: GraphQLObjectType<ServedPage>;
  /** Null if no field can be searched. */
  where: GraphQLInputObjectType | null;
  /** Null if the contract has no field that a new record may set. */
  create: GraphQLInputObjectType | null;
  /** Null if the contract has no field that an update may change. */
  update: GraphQLInputObjectType | null;
}

/** Creates the types of an object. `enumNames` has the names of enum types by field. */
export function createObjectTypes(
  object: GeneratedObject,
  enumNames: ReadonlyMap<FieldContract, string>,
): ObjectTypes {
  const { types, displayName: description } = object;
  const enumTypes = new Map<FieldContract, GraphQLEnumType>();
  for (const field of object.fields) {
    const name = enumNames.get(field);
    if (name) enumTypes.set(field, createFieldEnumType(name, field));
  }
  const getItemType = (field: FieldContract): ItemType =>
    enumTypes.get(field) ?? SCALAR_TYPES[SCALARS[field.type]];
  const record = createRecordType(object, getItemType);
  const searchableFields = object.fields.filter(
    ({ name, isList }) => object.filterable.fields.includes(name) && !isList,
  );
  const createInput = (name: string, members: InputMembers) =>
    Object.keys(members).length === 0
      ? null
      : new GraphQLInputObjectType({ name, description, fields: members });
  const otherMembers: InputMembers = hasOtherFields(object)
    ? { [OTHER_FIELDS]: OTHER_FIELDS_MEMBER }
    : {};
  return {
    record,
    connection: createConnectionType(object, record),
    where: createInput(types.where, createInputMembers(searchableFields, getItemType)),
    create: createInput(types.create, {
      ...createInputMembers(listCreateFields(object), getItemType, (field) => field.isRequired),
      ...otherMembers,
    }),
    update: createInput(types.update, {
      ...createInputMembers(listUpdateFields(object), getItemType),
      ...otherMembers,
    }),
  };
}

type InputMembers = Record<string, GraphQLInputFieldConfig>;

const OTHER_FIELDS_MEMBER: GraphQLInputFieldConfig = {
  type: JsonObjectType,
  description: "Further fields of the provider, by the provider's names.",
};

function createFieldEnumType(
  name: string,
  { description, values }: FieldContract,
): GraphQLEnumType {
  const entries = (values ?? []).map(({ value, displayValue }) => [
    value,
    { description: displayValue },
  ]);
  return new GraphQLEnumType({ name, description, values: Object.fromEntries(entries) });
}

function createInputMembers(
  fields: readonly FieldContract[],
  getItemType: (field: FieldContract) => ItemType,
  isRequired: (field: FieldContract) => boolean = () => false,
): InputMembers {
  const entries = fields.map((field) => {
    const type = toListType(field, getItemType(field));
    return [
      toMemberName(field.name),
      {
        type: isRequired(field) ? new GraphQLNonNull(type) : type,
        description: describeMember(field),
      },
    ];
  });
  return Object.fromEntries(entries);
}

function toListType({ isList }: FieldContract, type: ItemType) {
  return isList ? new GraphQLList(new GraphQLNonNull(type)) : type;
}

/** Members of every record. A field of the contract with the same name takes precedence. */
const RECORD_MEMBERS = {
  _raw: {
    type: new GraphQLNonNull(JsonObjectType),
    description: 'The record as the provider returned it.',
    resolve: ({ record }: ShownRecord) => record.raw,
  },
  _installation: {
    type: new GraphQLNonNull(RecordInstallationType),
    description: 'The installation that serves the record.',
    resolve: ({ installation }: ShownRecord) => installation,
  },
};

function createRecordType(
  object: GeneratedObject,
  getItemType: (field: FieldContract) => ItemType,
): GraphQLObjectType<ShownRecord> {
  const fields = listReadFields(object);
  const fieldsByMember = new Map(fields.map((field) => [toMemberName(field.name), field]));
  const names = new Set(fields.map(({ name }) => name));
  const enumValues = new Map(
    fields.flatMap((field) => {
      const type = getItemType(field);
      return type instanceof GraphQLEnumType
        ? [[field, new Set(type.getValues().map(({ name }) => name))] as const]
        : [];
    }),
  );
  // One function for all fields, because a schema has thousands.
  const resolve = (source: ShownRecord, _args: unknown, _context: unknown, info: FieldInfo) => {
    const field = fieldsByMember.get(info.fieldName) as FieldContract;
    const value = findFieldValue(source.record, field.name);
    return toOutputValue(field, value, enumValues.get(field) ?? null);
  };
  const members = fields.map((field) => {
    const type = toListType(field, getItemType(field));
    return [toMemberName(field.name), { type, description: describeMember(field), resolve }];
  });
  const extras = {
    type: new GraphQLNonNull(JsonObjectType),
    description: "Fields that the installation reads but the project's contract does not name.",
    resolve: ({ record: { fields: providerFields, mappedFields } }: ShownRecord) => {
      const values = Object.entries({ ...providerFields, ...mappedFields });
      return Object.fromEntries(values.filter(([name]) => !names.has(name)));
    },
  };
  return new GraphQLObjectType({
    name: object.types.record,
    description: object.displayName,
    fields: {
      id: {
        type: new GraphQLNonNull(GraphQLID),
        description: "The provider's id of the record.",
        resolve: ({ record: { id } }: ShownRecord) => id,
      },
      _extras: extras,
      ...RECORD_MEMBERS,
      ...Object.fromEntries(members),
    } satisfies ThunkObjMap<unknown>,
  });
}

interface FieldInfo {
  fieldName: string;
}

function createConnectionType(
  { types }: GeneratedObject,
  record: GraphQLObjectType<ShownRecord>,
): GraphQLObjectType<ServedPage> {
  type Edge = { edge: ServedPage['page']['edges'][number]; installation: RecordInstallation };
  const edgeType = new GraphQLObjectType<Edge>({
    name: types.edge,
    description: 'A record, with its position in the list.',
    fields: {
      cursor: {
        type: new GraphQLNonNull(GraphQLString),
        description: 'Pass it as after to continue from here.',
        resolve: ({ edge }) => edge.cursor,
      },
      node: {
        type: new GraphQLNonNull(record),
        description: 'The record.',
        resolve: ({ edge, installation }): ShownRecord => ({ record: edge.node, installation }),
      },
    },
  });
  return new GraphQLObjectType<ServedPage>({
    name: types.connection,
    description:
      'A page of records: at most one page of the provider. It may be empty even if more pages follow.',
    fields: {
      nodes: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(record))),
        description: 'The records of this page.',
        resolve: ({ page, serving }): ShownRecord[] => {
          const installation = toRecordInstallation(serving);
          return page.edges.map(({ node }) => ({ record: node, installation }));
        },
      },
      edges: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(edgeType))),
        description: 'The records of this page with their cursors.',
        resolve: ({ page, serving }): Edge[] => {
          const installation = toRecordInstallation(serving);
          return page.edges.map((edge) => ({ edge, installation }));
        },
      },
      pageInfo: {
        type: new GraphQLNonNull(PageInfoType),
        description: 'Whether records follow this page, and the cursor to read them.',
        resolve: ({ page }) => page.pageInfo,
      },
    },
  });
}

/** Returns the value in the form of the field's type. Throws UNPROCESSABLE if the value does not fit the type. */
function toOutputValue(
  field: Pick<FieldContract, 'name' | 'type' | 'isList'>,
  value: unknown,
  enumValues: ReadonlySet<string> | null,
): unknown {
  const typedValue = toTypedValue(field, value, enumValues);
  if (typedValue !== undefined) return typedValue;
  // The message omits the value, because it is record data.
  throw unprocessable(
    `The value of ${field.name} in the account does not match the contract type ${field.type}. Select _raw to see the value, and set a matching valueType in the manifest.`,
  );
}
