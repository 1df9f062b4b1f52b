/** Values of arguments and members that name another tenant's objects. */
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
import type { JsonSchema } from '../rest/minimal-request.ts';

/** Another tenant's project, IDs by prefix, and texts by the name of the member. */
export interface Foreign {
  project: string;
  findId(prefix: string): string | undefined;
  texts: Record<string, unknown>;
}

/** Prefix of the ID that a member or parameter of this name takes. */
const PREFIX_BY_MEMBER: Record<string, string> = {
  orgId: 'org',
  parentId: 'org',
  inviteId: 'inv',
  apiKeyId: 'key',
  apiKey: 'key',
  jwtKeyId: 'jwk',
  keyId: 'jwk',
  providerAppId: 'app',
  customProviderId: 'cpr',
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
  proposalId: 'prp',
  agentSessionId: 'ags',
  eventId: 'evt',
  routeId: 'etr',
  idOrName: 'prj',
};

const DEFAULT_BY_TYPE: Record<string, unknown> = {
  String: 'crm-sync',
  ID: 'prj_none',
  Int: 1,
  Boolean: true,
  JSONObject: { name: 'x' },
  DateTime: '2026-01-01T00:00:00Z',
};

/** Returns the value for an argument or an input member of this name. */
export function createForeignValue(
  name: string,
  type: GraphQLInputType,
  foreign: Foreign,
): unknown {
  const inner = getNullableType(type);
  if (isListType(inner)) {
    const item = createForeignValue(name, inner.ofType, foreign);
    return item === undefined ? undefined : [item];
  }
  if (isInputObjectType(inner))
    return createForeignInput(Object.values(inner.getFields()), foreign);
  if (isEnumType(inner)) return inner.getValues()[0]?.name;
  const prefix = PREFIX_BY_MEMBER[name];
  if (prefix) return foreign.findId(prefix);
  if (name === 'projectIdOrName') return foreign.project;
  return foreign.texts[name] ?? DEFAULT_BY_TYPE[getNamedType(type).name];
}

/** Prefix of the ID that arguments such as `idOrName` of these fields take. */
const PREFIX_BY_FIELD: Record<string, string> = {
  destination: 'dst',
  topic: 'top',
  group: 'grp',
  consumer: 'csm',
  connection: 'con',
  installation: 'ins',
  integration: 'int',
  providerApp: 'app',
};

/** True for fields that look up one object of a project, such as `Project.topic`. */
export function isLookup(type: { name: string }, field: { name: string }): boolean {
  return type.name === 'Project' && field.name in PREFIX_BY_FIELD;
}

/** Returns the value for an argument of a field. */
export function createForeignArgument(
  field: { name: string },
  { name, type }: GraphQLArgument,
  foreign: Foreign,
): unknown {
  const prefix = PREFIX_BY_FIELD[field.name];
  const isKey = ['id', 'idOrName', 'idOrRef'].includes(name);
  return isKey && prefix ? foreign.findId(prefix) : createForeignValue(name, type, foreign);
}

export function createForeignInput(
  fields: readonly (GraphQLInputField | GraphQLArgument)[],
  foreign: Foreign,
): Record<string, unknown> {
  return Object.fromEntries(
    fields
      .filter(
        ({ name, type }) =>
          isNonNullType(type) || PREFIX_BY_MEMBER[name] || name === 'projectIdOrName',
      )
      .map((field) => [field.name, createForeignValue(field.name, field.type, foreign)]),
  );
}

/** Returns the value for a member or a parameter of REST. */
export function createForeignMember(name: string, schema: JsonSchema, foreign: Foreign): unknown {
  const [firstOption] = schema.anyOf ?? [schema];
  const {
    type,
    items,
    properties,
    required = [],
    const: constant,
    enum: enumValues,
  } = firstOption ?? {};
  if (constant !== undefined) return constant;
  if (enumValues) return enumValues[0];
  if (type === 'array') return [createForeignMember(name, items ?? {}, foreign)];
  if (type === 'object') {
    const members = Object.entries(properties ?? {}).filter(
      ([member]) => required.includes(member) || PREFIX_BY_MEMBER[member],
    );
    return Object.fromEntries(
      members.map(([member, inner]) => [member, createForeignMember(member, inner, foreign)]),
    );
  }
  if (name === 'projectIdOrName') return foreign.project;
  const prefix = PREFIX_BY_MEMBER[name];
  if (prefix) return foreign.findId(prefix) ?? 'none';
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return firstOption?.minimum ?? 1;
  return (
    foreign.texts[name] ?? (firstOption?.format === 'date-time' ? '2026-01-01T00:00:00Z' : 'text')
  );
}
