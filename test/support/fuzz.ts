/** Calls made up from the schema: every mutation, every argument, with values that are right, wrong or hostile. */
import fc, { type Arbitrary } from 'fast-check';
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';
import { schema } from '../../src/graphql/schema.ts';

export interface FuzzCall {
  query: string;
  variables: Record<string, unknown>;
}

/** Stands for the nth of the ids and cursors that earlier answers held. */
const KNOWN = '@known:';

const HOSTILE = [
  '',
  ' ',
  '\0',
  '\ud800',
  '\u202e\u200b',
  'x'.repeat(300),
  'x'.repeat(20_000),
  '\' or 1=1; drop table "Project"; --',
  '%s%n${7*7}{{workspace}}',
  '__proto__',
  '../../etc/passwd\r\nx-injected: 1',
  '😀'.repeat(70),
  '-1',
  'null',
  '[object Object]',
];
const TIMES = [
  '2026-01-31T12:00:00Z',
  '1970-01-01T00:00:00+14:00',
  '0001-01-01T00:00:00+23:59',
  '9999-12-31T23:59:59-23:59',
  '2026-02-30T00:00:00Z',
  'yesterday',
];
const NUMBERS = [-(2 ** 31), -1, 0, 1, 2, 50, 60, 1000, 1001, 36_500, 2 ** 31 - 1, 2 ** 31, 0.5];
const JSON_OBJECTS = [
  '{}',
  '{"email": "a@b.example", "id": "1"}',
  '{"id": "contact_1"}',
  '{"a": [null, true, 1.5, {"b": "\\u0000"}]}',
  '{"__proto__": {"x": 1}, "constructor": 1}',
  `{"a": ${'['.repeat(90)}${']'.repeat(90)}}`,
  `{"a": ${'{"a":'.repeat(500)}1${'}'.repeat(500)}}`,
  '{"Host": "x", "X-Ok": "y", "webhook-id": "z"}',
  `{"a": "${'x'.repeat(20_000)}"}`,
].map((text): unknown => JSON.parse(text));

/** Values that reach past the first check, by the name of the argument. */
const LIKELY: Record<string, unknown[]> = {
  provider: ['sandbox', 'sandbox', 'hubspot', 'nobody'],
  groupRef: ['acme', 'acme', 'umbrella'],
  consumerRef: ['ann', 'bob'],
  objectName: ['contacts', 'contacts', 'companies', 'nothing'],
  destination: ['records', 'records', 'nowhere'],
  name: ['records', 'crm', 'crm', 'other', 'Über'],
  integrationIdOrName: ['crm', 'crm', 'other'],
  specVersion: ['1.0.0', '1.0.0', '2'],
  schedule: ['0 * * * *', '*/10 0 1 1 *', '* * * * *', '0 0 30 2 *', '@hourly'],
  url: ['https://example.com/in', 'http://169.254.169.254/', 'https://u:p@x/', 'https://[::1]/#'],
  domain: ['acme.example', 'bob@acme.example', 'https://www.acme.example/x', 'localhost'],
  email: ['ann@acme.example', 'bob@acme.example', 'ann'],
  fieldName: ['email', 'phone', 'nothing'],
  mode: ['auto', 'onRequest', 'SYNCHRONOUS', 'ASYNCHRONOUS'],
  enabled: ['always', 'never', true, false],
  scopes: ['read', 'full', 'org:read', 'nothing'],
  idempotencyKey: ['once', 'twice'],
};

export interface Fuzzer {
  /** The same calls for the same seed. */
  calls(seed: number, count: number): FuzzCall[];
  /** With the ids and cursors that are known by now. */
  resolve(call: FuzzCall): FuzzCall;
  /** Takes ids and cursors from an answer. */
  learn(answer: unknown): void;
}

const LEARNT = /"((?:[a-z]{3}_[0-9a-z]{26})|(?:[A-Za-z0-9_-]{20,}))"/g;
const MOST_KNOWN = 400;

export function createFuzzer(projects: string[]): Fuzzer {
  const known = [...projects];
  const likely = { ...LIKELY, projectIdOrName: [...projects, ...projects, 'nowhere'] };
  const call = callOf(likely);
  return {
    calls: (seed, count) => fc.sample(call, { seed, numRuns: count }),
    resolve: ({ query, variables }) => {
      const at = (index: string) => JSON.stringify(known[Number(index) % known.length]);
      const text = JSON.stringify(variables);
      const filled = text.replaceAll(/"@known:(\d+)"/g, (_all, index: string) => at(index));
      return { query, variables: JSON.parse(filled) as Record<string, unknown> };
    },
    learn(answer) {
      for (const [, text] of JSON.stringify(answer).matchAll(LEARNT)) {
        if (text && !known.includes(text)) known.push(text);
      }
      known.splice(projects.length, Math.max(0, known.length - MOST_KNOWN));
    },
  };
}

type Likely = Record<string, unknown[]>;

function callOf(likely: Likely): Arbitrary<FuzzCall> {
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  const queries = Object.values(schema.getQueryType()?.getFields() ?? {});
  const ofProject = Object.values(fieldsOf(schema.getType('Project')));
  const change = mutations.map((field) => operationOf('mutation', field, likely));
  const read = queries.map((field) => operationOf('query', field, likely));
  const list = ofProject
    .filter(({ args }) => args.length > 0)
    .map((field) => operationOf('query', field, likely, PROJECT));
  return fc.oneof(
    { arbitrary: fc.oneof(...change), weight: 6 },
    { arbitrary: fc.oneof(...read), weight: 1 },
    { arbitrary: fc.oneof(...list), weight: 2 },
  );
}

const PROJECT = ['viewer { project {', '} }'] as const;

/** One field with each of its arguments as a variable. */
function operationOf(
  kind: 'query' | 'mutation',
  field: GraphQLField<unknown, unknown>,
  likely: Likely,
  [open, close]: readonly [string, string] = ['', ''],
): Arbitrary<FuzzCall> {
  const variables = field.args.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const args = field.args.map(({ name }) => `${name}: $${name}`).join(', ');
  const query = `${kind}${variables && ` (${variables})`} { ${open} ${field.name}${args && `(${args})`} ${selectionOf(field.type, 3)} ${close} }`;
  return membersOf(field.args, likely).map((given) => ({ query, variables: given }));
}

function fieldsOf(type: GraphQLNamedType | undefined) {
  return isObjectType(type) || isInterfaceType(type) ? type.getFields() : {};
}

/** Everything of a type that needs no arguments, so many levels deep; what calls a provider needs some. */
function selectionOf(type: GraphQLOutputType, levels: number): string {
  const named = getNamedType(type);
  if (isInterfaceType(named)) return '{ __typename id }';
  if (!isObjectType(named)) return '';
  const selected = Object.values(named.getFields()).flatMap((field) => {
    if (field.args.some(isRequiredArgument)) return [];
    if (!isObjectType(getNamedType(field.type))) return field.name;
    const inner = levels > 1 ? selectionOf(field.type, levels - 1) : '';
    const page = field.args.some(({ name }) => name === 'first') ? '(first: 2)' : '';
    return inner === '' ? [] : `${field.name}${page} ${inner}`;
  });
  return selected.length === 0 ? '' : `{ ${selected.join(' ')} }`;
}

type Member = GraphQLArgument | GraphQLInputField;

function membersOf(members: readonly Member[], likely: Likely): Arbitrary<Record<string, unknown>> {
  const required = members.filter(
    (member) => isRequiredArgument(member as GraphQLArgument) || isRequiredInputField(member),
  );
  const model = Object.fromEntries(
    members.map((member) => [member.name, valuesOf(member.name, member.type, likely)]),
  );
  const whole = fc.record(model, { requiredKeys: required.map(({ name }) => name) });
  const partial = fc.record(model, { requiredKeys: [] });
  return mostly(whole, partial);
}

function mostly<T>(usual: Arbitrary<T>, seldom: Arbitrary<T>): Arbitrary<T> {
  return fc.oneof({ arbitrary: usual, weight: 40 }, { arbitrary: seldom, weight: 1 });
}

function valuesOf(name: string, type: GraphQLInputType, likely: Likely): Arbitrary<unknown> {
  const inner = getNullableType(type);
  const wrong = fc.oneof(fc.constant(null), fc.constantFrom(...HOSTILE), fc.jsonValue());
  const usual = isListType(inner)
    ? fc.array(valuesOf(name, inner.ofType, likely), { maxLength: 3 })
    : singleOf(name, inner, likely);
  return isNonNullType(type) ? mostly(usual, wrong) : mostly(usual, fc.constant(null));
}

function singleOf(name: string, type: GraphQLInputType, likely: Likely): Arbitrary<unknown> {
  if (isInputObjectType(type)) return membersOf(Object.values(type.getFields()), likely);
  if (isEnumType(type)) return fc.constantFrom(...type.getValues().map((value) => value.name));
  switch (getNamedType(type).name) {
    case 'Int':
      return fc.constantFrom(...NUMBERS);
    case 'Boolean':
      return fc.boolean();
    case 'DateTime':
      return fc.constantFrom(...TIMES);
    case 'JSONObject':
      return fc.constantFrom(...JSON_OBJECTS);
    default:
      return textOf(name, likely[name] ?? []);
  }
}

function textOf(name: string, likely: unknown[]): Arbitrary<unknown> {
  const isKnown = /(^id|Ids?|ids|after|before|apiKey|IdOrName)$/.test(name);
  const known = fc.nat(MOST_KNOWN).map((index) => `${KNOWN}${index}`);
  const plain = fc.constantFrom('a', 'text', 'Some text');
  const usual = likely.length > 0 ? fc.constantFrom(...likely) : plain;
  return fc.oneof(
    { arbitrary: isKnown ? known : usual, weight: 12 },
    { arbitrary: isKnown && likely.length > 0 ? usual : plain, weight: 12 },
    { arbitrary: fc.constantFrom(...HOSTILE), weight: 1 },
    { arbitrary: fc.string({ unit: 'binary', maxLength: 40 }), weight: 1 },
  );
}
