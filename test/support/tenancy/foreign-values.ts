/** What somebody else has, as values for arguments and inputs of these names. */
import {
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import type { JsonSchema } from '../rest/least-request.ts';

/** The ids by their prefixes, and the texts by the names of fields. */
export interface Foreign {
  project: string;
  idOf(prefix: string): string | undefined;
  texts: Record<string, unknown>;
}

/** The ids that fields and parameters name, by their prefixes. */
export const PREFIX_OF_NAME: Record<string, string> = {
  orgId: 'org',
  parentId: 'org',
  inviteId: 'inv',
  apiKeyId: 'key',
  apiKey: 'key',
  jwtKeyId: 'jwk',
  keyId: 'jwk',
  providerAppId: 'app',
  connectionId: 'con',
  integrationIdOrName: 'int',
  integrationId: 'int',
  integrations: 'int',
  revisionId: 'rev',
  installationId: 'ins',
  operationId: 'opr',
  topicId: 'top',
  destinationId: 'dst',
  deliveryId: 'dlv',
  eventId: 'evt',
  routeId: 'etr',
  idOrName: 'prj',
};

const DEFAULT_OF_TYPE: Record<string, unknown> = {
  String: 'crm-sync',
  ID: 'prj_none',
  Int: 1,
  Boolean: true,
  JSONObject: { name: 'x' },
  DateTime: '2026-01-01T00:00:00Z',
};

/** The value that an argument or an input field of this name takes. */
export function foreignValue(name: string, type: GraphQLInputType, foreign: Foreign): unknown {
  const inner = getNullableType(type);
  if (isListType(inner)) {
    const item = foreignValue(name, inner.ofType, foreign);
    return item === undefined ? undefined : [item];
  }
  if (isInputObjectType(inner)) return foreignInput(Object.values(inner.getFields()), foreign);
  if (isEnumType(inner)) return inner.getValues()[0]?.name;
  const prefix = PREFIX_OF_NAME[name];
  if (prefix) return foreign.idOf(prefix);
  if (name === 'projectIdOrName') return foreign.project;
  return foreign.texts[name] ?? DEFAULT_OF_TYPE[getNamedType(type).name];
}

/** Prefixes of the ids that arguments like `idOrName` of these fields name. */
const PREFIX_OF_FIELD: Record<string, string> = {
  destination: 'dst',
  topic: 'top',
  group: 'grp',
  consumer: 'csm',
  connection: 'con',
  installation: 'ins',
  integration: 'int',
  providerApp: 'app',
};

/** True for fields that find one object of a project, like `Project.topic`. */
export function isLookUp(type: { name: string }, field: { name: string }): boolean {
  return type.name === 'Project' && field.name in PREFIX_OF_FIELD;
}

/** The value of an argument of a field. */
export function foreignArgument(
  field: { name: string },
  { name, type }: GraphQLArgument,
  foreign: Foreign,
): unknown {
  const prefix = PREFIX_OF_FIELD[field.name];
  const isKey = ['id', 'idOrName', 'idOrRef'].includes(name);
  return isKey && prefix ? foreign.idOf(prefix) : foreignValue(name, type, foreign);
}

export function foreignInput(
  fields: readonly (GraphQLInputField | GraphQLArgument)[],
  foreign: Foreign,
): Record<string, unknown> {
  return Object.fromEntries(
    fields
      .filter(
        ({ name, type }) =>
          isNonNullType(type) || PREFIX_OF_NAME[name] || name === 'projectIdOrName',
      )
      .map((field) => [field.name, foreignValue(field.name, field.type, foreign)]),
  );
}

/** The same for a member or a parameter of REST. */
export function foreignMember(name: string, schema: JsonSchema, foreign: Foreign): unknown {
  const [first] = schema.anyOf ?? [schema];
  const { type, items, properties, required = [], const: constant, enum: words } = first ?? {};
  if (constant !== undefined) return constant;
  if (words) return words[0];
  if (type === 'array') return [foreignMember(name, items ?? {}, foreign)];
  if (type === 'object') {
    const members = Object.entries(properties ?? {}).filter(
      ([member]) => required.includes(member) || PREFIX_OF_NAME[member],
    );
    return Object.fromEntries(
      members.map(([member, inner]) => [member, foreignMember(member, inner, foreign)]),
    );
  }
  if (name === 'projectIdOrName') return foreign.project;
  const prefix = PREFIX_OF_NAME[name];
  if (prefix) return foreign.idOf(prefix) ?? 'none';
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return first?.minimum ?? 1;
  return foreign.texts[name] ?? (first?.format === 'date-time' ? '2026-01-01T00:00:00Z' : 'text');
}
