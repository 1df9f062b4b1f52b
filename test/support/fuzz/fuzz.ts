/**
 * Generates random calls from the schema: every mutation and every argument, with right, wrong and hostile
 * values.
 */
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
import {
  HOSTILE_JSON,
  HOSTILE_TEXTS,
  LIKELY_VALUES,
  NUMBERS,
  PRESENCE_PERCENT,
  TIMES,
} from './fuzz-values.ts';

export interface FuzzCall {
  query: string;
  variables: Record<string, unknown>;
}

/** The percentage of generated values that are invalid for their field. */
export type Hostility = number;
export const PLAUSIBLE: Hostility = 2;
export const HOSTILE: Hostility = 15;

/** Returns the calls of a seed. Their IDs and cursors are placeholders for those of earlier responses. */
export function generateCalls(seed: number, count: number): FuzzCall[] {
  const call = fc.oneof(
    { arbitrary: arbitraryCall(PLAUSIBLE), weight: 3 },
    { arbitrary: arbitraryCall(HOSTILE), weight: 1 },
  );
  return fc.sample(call, { seed, numRuns: count });
}

/** Deletions are rare, so that rows remain that other calls can change. */
function arbitraryCall(hostility: Hostility): Arbitrary<FuzzCall> {
  const mutations = Object.values(listFields(schema.getMutationType()));
  const queries = Object.values(listFields(schema.getQueryType()));
  const projectFields = Object.values(listFields(schema.getType('Project')));
  const [deletions = [], changes = []] = [true, false].map((isDeletion) =>
    mutations.filter(({ name }) => name.startsWith('delete') === isDeletion),
  );
  const callAnyOf = (fields: GraphQLField<unknown, unknown>[], kind: CallKind, weight: number) => ({
    arbitrary: fc.oneof(...fields.map((field) => createFieldCall(field, kind, hostility))),
    weight,
  });
  return fc.oneof(
    callAnyOf(changes, 'mutation', 7),
    callAnyOf(deletions, 'mutation', 1),
    callAnyOf(queries, 'query', 1),
    callAnyOf(
      projectFields.filter(({ args }) => args.length > 0),
      'project',
      2,
    ),
  );
}

const IDS_PER_KIND_MAX = 20;
/** Matches IDs, and texts that are long enough to be cursors. */
const ID_OR_CURSOR = /"((?:([a-z]{3})_[0-9a-z]{26})|(?:[A-Za-z0-9_-]{30,}))"/g;
export const PLACEHOLDER = /"@([a-z|]+):(\d+)"/g;

/** IDs by prefix, and cursors, from earlier responses. The newest come first. */
export class KnownIds {
  readonly #idsByKind = new Map<string, string[]>();
  readonly #excludedIds: ReadonlySet<string>;

  /** `excludedIds` are values that are never used, such as the API key that sends the calls. */
  constructor(excludedIds: readonly string[]) {
    this.#excludedIds = new Set(excludedIds);
  }

  collect(response: unknown): void {
    for (const [, text = '', prefix] of JSON.stringify(response).matchAll(ID_OR_CURSOR)) {
      if (this.#excludedIds.has(text)) continue;
      const kind = prefix ?? 'cursor';
      const earlierIds = (this.#idsByKind.get(kind) ?? []).filter((id) => id !== text);
      this.#idsByKind.set(kind, [text, ...earlierIds].slice(0, IDS_PER_KIND_MAX));
    }
  }

  /** Returns the call with known values in place of its placeholders. */
  fill({ query, variables }: FuzzCall): FuzzCall {
    const text = JSON.stringify(variables).replaceAll(PLACEHOLDER, (_all, kinds, index) => {
      const ids = String(kinds)
        .split('|')
        .flatMap((kind) => this.#idsByKind.get(kind) ?? []);
      return JSON.stringify(ids[Number(index) % ids.length] ?? 'unknown');
    });
    return { query, variables: JSON.parse(text) as Record<string, unknown> };
  }
}

const PREFIXES_BY_ARGUMENT = {
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

/** Returns the prefixes of the IDs that an argument takes, or null if it takes no ID. */
function findPlaceholderKinds(name: string): string | null {
  if (name === 'idempotencyKey') return null;
  const kinds = Object.entries(PREFIXES_BY_ARGUMENT).find(([part]) =>
    name.toLowerCase().startsWith(part),
  );
  return kinds?.[1] ?? null;
}

type CallKind = 'mutation' | 'query' | 'project';

/** Returns calls of one field, with each of its arguments as a variable. */
function createFieldCall(
  field: GraphQLField<unknown, unknown>,
  kind: CallKind,
  hostility: Hostility,
): Arbitrary<FuzzCall> {
  const declarations = field.args.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const passed = field.args.map(({ name }) => `${name}: $${name}`).join(', ');
  const selection = `${field.name}${passed && `(${passed})`} ${selectFields(field.type, 3)}`;
  const body = kind === 'project' ? `viewer { project { ${selection} } }` : selection;
  const query = `${kind === 'mutation' ? kind : 'query'} ${declarations && `(${declarations})`} { ${body} }`;
  return arbitraryMembers(field.args, hostility).map((variables) => ({ query, variables }));
}

function listFields(type: GraphQLNamedType | undefined | null) {
  return isObjectType(type) ? type.getFields() : {};
}

/**
 * Selects every field without required arguments, down to the number of levels. Fields that call a provider
 * have required arguments.
 */
function selectFields(type: GraphQLOutputType, levels: number): string {
  const namedType = getNamedType(type);
  if (isInterfaceType(namedType)) return '{ __typename id }';
  if (!isObjectType(namedType)) return '';
  const selections = Object.values(namedType.getFields()).flatMap((field) => {
    if (field.args.some(isRequiredArgument)) return [];
    if (!isObjectType(getNamedType(field.type))) return field.name;
    const inner = levels > 1 ? selectFields(field.type, levels - 1) : '';
    const page = field.args.some(({ name }) => name === 'first') ? '(first: 2)' : '';
    return inner === '' ? [] : `${field.name}${page} ${inner}`;
  });
  return selections.length === 0 ? '' : `{ ${selections.join(' ')} }`;
}

/** Generates values for arguments or members of an input by their names. IDs and cursors are placeholders. */
export function arbitraryMembers(
  members: readonly (GraphQLArgument | GraphQLInputField)[],
  hostility: Hostility,
): Arbitrary<Record<string, unknown>> {
  return arbitraryObject(
    members.map((member) => {
      const isRequired =
        isRequiredArgument(member as GraphQLArgument) || isRequiredInputField(member);
      const presence = isRequired
        ? 100 - hostility / 4
        : (PRESENCE_PERCENT[member.name] ?? 15 + hostility);
      const value = arbitraryValue(member.name, member.type, hostility);
      return [member.name, { presence, value }];
    }),
  );
}

const ABSENT = Symbol('absent');

/** Generates objects. `presence` is the percentage of objects that have the member. */
export function arbitraryObject(
  members: [name: string, { presence: number; value: Arbitrary<unknown> }][],
): Arbitrary<Record<string, unknown>> {
  const model = members.map(([name, { presence, value }]) => [
    name,
    presence === 100 ? value : chooseRarely(100 - presence, fc.constant<unknown>(ABSENT), value),
  ]);
  return fc
    .record(Object.fromEntries(model) as Record<string, Arbitrary<unknown>>)
    .map((object) =>
      Object.fromEntries(Object.entries(object).filter(([, value]) => value !== ABSENT)),
    );
}

/** Generates `rare` in `percent` percent of cases, and `usual` otherwise. */
export function chooseRarely<T>(
  percent: number,
  rare: Arbitrary<T>,
  usual: Arbitrary<T>,
): Arbitrary<T> {
  const weight = Math.max(1, Math.round(percent));
  return fc.oneof({ arbitrary: rare, weight }, { arbitrary: usual, weight: 100 - weight });
}

function arbitraryValue(
  name: string,
  type: GraphQLInputType,
  hostility: Hostility,
): Arbitrary<unknown> {
  const inner = getNullableType(type);
  const invalid = fc.oneof(
    fc.constant(null),
    fc.constantFrom<unknown>(...HOSTILE_TEXTS, ...NUMBERS, ...HOSTILE_JSON),
    fc.jsonValue(),
  );
  const valid = isListType(inner)
    ? fc.array(arbitraryValue(name, inner.ofType, hostility), { maxLength: 3 })
    : arbitrarySingleValue(name, inner, hostility);
  return chooseRarely(hostility / 4, isNonNullType(type) ? invalid : fc.constant(null), valid);
}

function arbitrarySingleValue(
  name: string,
  type: GraphQLInputType,
  hostility: Hostility,
): Arbitrary<unknown> {
  if (isInputObjectType(type)) return arbitraryMembers(Object.values(type.getFields()), hostility);
  if (isEnumType(type)) return fc.constantFrom(...type.getValues().map((value) => value.name));
  switch (getNamedType(type).name) {
    case 'Int':
      return fc.constantFrom(...NUMBERS);
    case 'Boolean':
      return fc.boolean();
    case 'DateTime':
      return fc.constantFrom(...TIMES);
    case 'JSONObject':
      return chooseRarely(
        hostility,
        fc.constantFrom(...HOSTILE_JSON),
        fc.constantFrom<unknown>({ email: 'a@b.example' }, { id: '1' }, {}),
      );
    default:
      return arbitraryText(name, hostility);
  }
}

/** Generates texts for a member of this name. IDs and cursors are placeholders. */
export function arbitraryText(name: string, hostility: Hostility): Arbitrary<unknown> {
  const kinds = findPlaceholderKinds(name);
  const likely: Arbitrary<unknown> = fc.constantFrom(
    ...(LIKELY_VALUES[name] ?? ['a', 'Some text']),
  );
  const newest = chooseRarely(30, fc.nat(IDS_PER_KIND_MAX), fc.constant(0));
  const placeholders = newest.map((index) => `@${kinds}:${index}`);
  const valid = kinds
    ? LIKELY_VALUES[name]
      ? fc.oneof(placeholders, likely)
      : placeholders
    : likely;
  const hostile = fc.oneof(
    fc.constantFrom(...HOSTILE_TEXTS),
    fc.string({ unit: 'binary', maxLength: 40 }),
  );
  return chooseRarely(hostility, hostile, valid);
}
