/** Requests to GraphQL and REST in which one text, list or JSON value fills the body. */
import {
  type GraphQLInputType,
  type GraphQLObjectType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { buildMinimalOperation, createMinimalValue } from '../../support/minimal-operation.ts';
import {
  type JsonSchema,
  createMinimalValue as minimalSchemaValue,
  type Operation,
} from '../../support/rest/minimal-request.ts';
import type { LargeInput } from './large-input.ts';

/** Slightly less than LIMIT_BODY_BYTES, so that other members fit in the body. */
const INPUT_BYTES = 1_000_000;
/** Slightly less than the limit for all lists of a request together. */
const LIST_ITEMS = 9_900;
/** The maximum depth of inputs. */
const LEVELS_MAX = 7;

const LONG_TEXTS: Record<string, unknown> = {
  letters: 'a'.repeat(INPUT_BYTES),
  'spaces and a mark': `${' '.repeat(INPUT_BYTES)}!`,
  'signs that patterns look for': '.-_/@:%+*'.repeat(INPUT_BYTES / 9),
};
/** Inserted into the body as text, because JSON.stringify fails for such deep nesting. */
const NESTED_JSON = `${'{"a":'.repeat(INPUT_BYTES / 6)}1${'}'.repeat(INPUT_BYTES / 6)}`;
const JSON_VALUES: Record<string, unknown> = {
  nested: '@nested',
  wide: Object.fromEntries(
    Array.from({ length: INPUT_BYTES / 15 }, (_, index) => [`key${index}`, index]),
  ),
  numbers: Array.from({ length: INPUT_BYTES / 2 }, () => 1),
  'permitted numbers': Array.from({ length: LIST_ITEMS }, () => 1),
  letters: { a: 'a'.repeat(INPUT_BYTES) },
};

type LargeValue = [where: string, value: unknown];

function serializeBody(body: unknown): string {
  return JSON.stringify(body).replace('"@nested"', NESTED_JSON);
}

function createTexts(values: Record<string, unknown>): LargeValue[] {
  return Object.entries(values).map(([name, value]) => [`: ${name}`, value]);
}

/** Returns two lists: one fills the body, and one has the maximum number of items. */
function createLists(item: unknown): LargeValue[] {
  const countMax = Math.floor(INPUT_BYTES / (JSON.stringify(item).length + 1));
  return [countMax, Math.min(countMax, LIST_ITEMS)].map((count) => [
    `: ${count} items`,
    Array.from({ length: count }, () => item),
  ]);
}

function listLargeValues(inputType: GraphQLInputType, levels = LEVELS_MAX): LargeValue[] {
  const type = getNullableType(inputType);
  if (levels === 0 || isEnumType(type)) return [];
  if (isListType(type)) {
    const inner = listLargeValues(type.ofType, levels - 1);
    return [
      ...createLists(createMinimalValue(type.ofType)),
      ...inner.map(([where, value]): LargeValue => [`[]${where}`, [value]]),
    ];
  }
  if (isInputObjectType(type)) {
    const minimum = createMinimalValue(type) as object;
    return Object.values(type.getFields()).flatMap(({ name, type }) =>
      listLargeValues(type, levels - 1).map(
        ([where, value]): LargeValue => [`.${name}${where}`, { ...minimum, [name]: value }],
      ),
    );
  }
  if (['Int', 'Float', 'Boolean'].includes(String(type))) return [];
  return createTexts(String(type).startsWith('JSON') ? JSON_VALUES : LONG_TEXTS);
}

function listLargeSchemaValues(schema: JsonSchema, levels = LEVELS_MAX): LargeValue[] {
  if (levels === 0 || schema.enum || schema.const !== undefined) return [];
  if (schema.anyOf)
    return schema.anyOf.flatMap((option) => listLargeSchemaValues(option, levels - 1));
  if (schema.type === 'array') {
    const item = schema.items ?? {};
    const inner = listLargeSchemaValues(item, levels - 1);
    return [
      ...createLists(minimalSchemaValue(item) ?? 'a'),
      ...inner.map(([where, value]): LargeValue => [`[]${where}`, [value]]),
    ];
  }
  if (schema.properties) {
    const minimum = minimalSchemaValue(schema) as object;
    return Object.entries(schema.properties).flatMap(([name, member]) =>
      listLargeSchemaValues(member, levels - 1).map(
        ([where, value]): LargeValue => [`.${name}${where}`, { ...minimum, [name]: value }],
      ),
    );
  }
  if (schema.type === 'string') return createTexts(LONG_TEXTS);
  return schema.type === 'object' ? createTexts(JSON_VALUES) : [];
}

const JSON_HEADERS = { 'content-type': 'application/json' };

/** Yields inputs for the arguments of mutations, of root queries, and of the lists of a project. */
export function* walkGraphqlInputs(projectId: string): Iterable<LargeInput> {
  const kinds = { mutation: schema.getMutationType(), query: schema.getQueryType() };
  for (const [kind, root] of Object.entries(kinds)) {
    for (const field of Object.values((root as GraphQLObjectType).getFields())) {
      for (const arg of field.args) {
        const { query, variables } = buildMinimalOperation(kind, field, [arg]);
        for (const [where, value] of listLargeValues(arg.type)) {
          const allVariables = { ...variables, [arg.name]: setProject(value, projectId) };
          const body = serializeBody({ query, variables: allVariables });
          const name = `GraphQL ${field.name} ${arg.name}${where}`;
          yield { name, method: 'POST', path: '/graphql', headers: JSON_HEADERS, body };
        }
      }
    }
  }
}

/** Sets an existing project. With an unknown project, the input is refused before other members are read. */
function setProject(value: unknown, projectId: string): unknown {
  if (typeof value !== 'object' || value === null || !('projectIdOrName' in value)) return value;
  const { projectIdOrName } = value as { projectIdOrName: unknown };
  return projectIdOrName === 'unknown.example' ? { ...value, projectIdOrName: projectId } : value;
}

export function* walkRestInputs(operations: Operation[], projectId: string): Iterable<LargeInput> {
  for (const { method, path, requestBody } of operations) {
    const content = requestBody?.content['application/json'];
    if (!content) continue;
    const filledPath = path
      .replace('{projectIdOrName}', projectId)
      .replaceAll(/\{\w+\}/g, 'unknown');
    for (const [where, value] of listLargeSchemaValues(content.schema)) {
      const name = `REST ${method} ${path} ${where}`;
      yield {
        name,
        method,
        path: `/v1${filledPath}`,
        headers: JSON_HEADERS,
        body: serializeBody(value),
      };
    }
  }
}
