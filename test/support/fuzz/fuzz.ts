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
import { schema } from '../../../src/graphql/schema/schema.ts';
import { HOSTILE_JSON, HOSTILE_TEXTS, LIKELY, NUMBERS, PRESENT, TIMES } from './fuzz-values.ts';

export interface FuzzCall {
  query: string;
  variables: Record<string, unknown>;
}

/** How often, of a hundred values, one is not what its place asks for. */
export type Hostility = number;
export const PLAUSIBLE: Hostility = 2;
export const HOSTILE: Hostility = 15;

/** The calls of a seed; ids and cursors in them stand for those of earlier answers. */
export function makeCalls(seed: number, count: number): FuzzCall[] {
  const call = fc.oneof(
    { arbitrary: anyCall(PLAUSIBLE), weight: 3 },
    { arbitrary: anyCall(HOSTILE), weight: 1 },
  );
  return fc.sample(call, { seed, numRuns: count });
}

/** Seldom a deletion, so that there is something to change. */
function anyCall(hostility: Hostility): Arbitrary<FuzzCall> {
  const mutations = Object.values(fieldsOf(schema.getMutationType()));
  const queries = Object.values(fieldsOf(schema.getQueryType()));
  const ofProject = Object.values(fieldsOf(schema.getType('Project')));
  const [deletions = [], changes = []] = [true, false].map((isDeletion) =>
    mutations.filter(({ name }) => name.startsWith('delete') === isDeletion),
  );
  const oneOf = (fields: GraphQLField<unknown, unknown>[], of: CallOf, weight: number) => ({
    arbitrary: fc.oneof(...fields.map((field) => callOf(field, of, hostility))),
    weight,
  });
  return fc.oneof(
    oneOf(changes, 'mutation', 7),
    oneOf(deletions, 'mutation', 1),
    oneOf(queries, 'query', 1),
    oneOf(
      ofProject.filter(({ args }) => args.length > 0),
      'project',
      2,
    ),
  );
}

/** Ids by prefix, and cursors: what answers held, the newest first. */
export class KnownIds {
  readonly #known = new Map<string, string[]>();
  readonly #spared: ReadonlySet<string>;

  /** What is spared is never learnt: the keys that calls are made with. */
  constructor(spared: readonly string[]) {
    this.#spared = new Set(spared);
  }

  learn(response: unknown): void {
    for (const [, text = '', prefix] of JSON.stringify(response).matchAll(LEARNT)) {
      if (this.#spared.has(text)) continue;
      const kind = prefix ?? 'cursor';
      const others = (this.#known.get(kind) ?? []).filter((other) => other !== text);
      this.#known.set(kind, [text, ...others].slice(0, KNOWN_MAX));
    }
  }

  /** The call with what its placeholders stand for by now. */
  fill({ query, variables }: FuzzCall): FuzzCall {
    const text = JSON.stringify(variables).replaceAll(PLACEHOLDER, (_all, kinds, index) => {
      const known = String(kinds)
        .split('|')
        .flatMap((kind) => this.#known.get(kind) ?? []);
      return JSON.stringify(known[Number(index) % known.length] ?? 'unknown');
    });
    return { query, variables: JSON.parse(text) as Record<string, unknown> };
  }
}
const KNOWN_MAX = 20;
/** An id, or what is long enough for a cursor. */
const LEARNT = /"((?:([a-z]{3})_[0-9a-z]{26})|(?:[A-Za-z0-9_-]{30,}))"/g;
export const PLACEHOLDER = /"@([a-z|]+):(\d+)"/g;

/** Of what kinds the ids of an argument are. */
function kindsOf(name: string): string | null {
  const kinds = Object.entries(KINDS).find(([part]) => name.toLowerCase().startsWith(part));
  return kinds?.[1] ?? null;
}
const KINDS = {
  projectid: 'prj',
  integrationid: 'int',
  installationid: 'ins',
  connectionid: 'con',
  providerappid: 'app',
  destinationid: 'dst',
  topicid: 'top',
  routeid: 'etr|tdr',
  deliveryid: 'dlv',
  operationid: 'opr',
  eventid: 'evt',
  revisionid: 'rev',
  pagetoken: 'cursor',
  inviteid: 'inv',
  apikeyid: 'key',
  parentid: 'org',
  orgid: 'org',
  after: 'cursor',
  before: 'cursor',
  id: 'prj|org|int|ins|con|top|dst|opr|evt|dlv|rev|cfg|key|bld',
};

type CallOf = 'mutation' | 'query' | 'project';

/** One field with each of its arguments as a variable. */
function callOf(
  field: GraphQLField<unknown, unknown>,
  of: CallOf,
  hostility: Hostility,
): Arbitrary<FuzzCall> {
  const declared = field.args.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const given = field.args.map(({ name }) => `${name}: $${name}`).join(', ');
  const selected = `${field.name}${given && `(${given})`} ${selectionOf(field.type, 3)}`;
  const body = of === 'project' ? `viewer { project { ${selected} } }` : selected;
  const query = `${of === 'mutation' ? of : 'query'} ${declared && `(${declared})`} { ${body} }`;
  return membersOf(field.args, hostility).map((variables) => ({ query, variables }));
}

function fieldsOf(type: GraphQLNamedType | undefined | null) {
  return isObjectType(type) ? type.getFields() : {};
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

const LEFT_OUT = Symbol('left out');

/** Values for arguments or members of an input, by name; ids and cursors among them are placeholders. */
export function membersOf(
  members: readonly (GraphQLArgument | GraphQLInputField)[],
  hostility: Hostility,
): Arbitrary<Record<string, unknown>> {
  const model = Object.fromEntries(
    members.map((member) => {
      const isRequired =
        isRequiredArgument(member as GraphQLArgument) || isRequiredInputField(member);
      const present = isRequired ? 100 - hostility / 4 : (PRESENT[member.name] ?? 15 + hostility);
      const value = valuesOf(member.name, member.type, hostility);
      return [member.name, outOfHundred(100 - present, fc.constant<unknown>(LEFT_OUT), value)];
    }),
  );
  return fc
    .record(model)
    .map((all) =>
      Object.fromEntries(Object.entries(all).filter(([, value]) => value !== LEFT_OUT)),
    );
}

/** Seldom the rare one. */
export function outOfHundred<T>(
  seldom: number,
  rare: Arbitrary<T>,
  usual: Arbitrary<T>,
): Arbitrary<T> {
  const weight = Math.max(1, Math.round(seldom));
  return fc.oneof({ arbitrary: rare, weight }, { arbitrary: usual, weight: 100 - weight });
}

function valuesOf(name: string, type: GraphQLInputType, hostility: Hostility): Arbitrary<unknown> {
  const inner = getNullableType(type);
  const wrong = fc.oneof(
    fc.constant(null),
    fc.constantFrom<unknown>(...HOSTILE_TEXTS, ...NUMBERS, ...HOSTILE_JSON),
    fc.jsonValue(),
  );
  const right = isListType(inner)
    ? fc.array(valuesOf(name, inner.ofType, hostility), { maxLength: 3 })
    : singleOf(name, inner, hostility);
  return outOfHundred(hostility / 4, isNonNullType(type) ? wrong : fc.constant(null), right);
}

function singleOf(name: string, type: GraphQLInputType, hostility: Hostility): Arbitrary<unknown> {
  if (isInputObjectType(type)) return membersOf(Object.values(type.getFields()), hostility);
  if (isEnumType(type)) return fc.constantFrom(...type.getValues().map((value) => value.name));
  switch (getNamedType(type).name) {
    case 'Int':
      return fc.constantFrom(...NUMBERS);
    case 'Boolean':
      return fc.boolean();
    case 'DateTime':
      return fc.constantFrom(...TIMES);
    case 'JSONObject':
      return outOfHundred(
        hostility,
        fc.constantFrom(...HOSTILE_JSON),
        fc.constantFrom<unknown>({ email: 'a@b.example' }, { id: '1' }, {}),
      );
    default:
      return textsOf(name, hostility);
  }
}

/** Texts for the place of that name; ids and cursors among them are placeholders. */
export function textsOf(name: string, hostility: Hostility): Arbitrary<unknown> {
  const kinds = kindsOf(name);
  const likely: Arbitrary<unknown> = fc.constantFrom(...(LIKELY[name] ?? ['a', 'Some text']));
  const newest = outOfHundred(30, fc.nat(KNOWN_MAX), fc.constant(0));
  const known = newest.map((index) => `@${kinds}:${index}`);
  const right = kinds ? (LIKELY[name] ? fc.oneof(known, likely) : known) : likely;
  const hostile = fc.oneof(
    fc.constantFrom(...HOSTILE_TEXTS),
    fc.string({ unit: 'binary', maxLength: 40 }),
  );
  return outOfHundred(hostility, hostile, right);
}
