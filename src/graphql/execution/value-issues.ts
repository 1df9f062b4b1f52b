/**
 * Coerces the value of a variable, and lists what is wrong with it, with the path of each member. graphql-js reports a
 * missing or unknown member at the path of its object, repeats values, which may be secrets, and can't pause.
 */
import {
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  isSpecifiedScalarType,
} from 'graphql';
import type { Issue } from '../../kernel/errors.ts';
import { createNameFinder, suggestName } from '../../kernel/nearest-name.ts';
import type { Path } from '../../kernel/text.ts';
import { isObject } from '../../work/is-object.ts';
import { truncateMessage } from './graphql-errors.ts';

/** Longer than the name of any member. A caller may send longer names, which are truncated. */
const NAME_LENGTH_MAX = 100;

export type Coercion = Generator<Issue | undefined, unknown, undefined>;

/**
 * Coerces the value of a variable. Yields an issue for each value that graphql-js refuses, and undefined where another turn
 * of the event loop may begin. Returns the value that graphql-js passes to resolvers, if there are no issues.
 */
export function* coerceValue(type: GraphQLInputType, value: unknown, path: Path): Coercion {
  if (isNonNullType(type)) {
    if (value != null) return yield* coerceValue(type.ofType, value, path);
    yield createMissingIssue(path, value);
    return value;
  }
  if (value == null) return value;
  if (isListType(type)) {
    if (!Array.isArray(value)) return [yield* coerceValue(type.ofType, value, path)];
    const items: unknown[] = [];
    for (const [index, item] of value.entries()) {
      items.push(yield* coerceValue(type.ofType, item, [...path, index]));
      yield;
    }
    return items;
  }
  return isInputObjectType(type)
    ? yield* coerceMembers(type, value, path)
    : yield* coerceLeaf(type, value, path);
}

function createMissingIssue(path: Path, value: unknown): Issue {
  return value === undefined
    ? { kind: 'missing-value', path, detail: 'is required.' }
    : { kind: 'missing-value', path, detail: 'must not be null.' };
}

function* coerceMembers(type: GraphQLInputObjectType, value: unknown, path: Path): Coercion {
  if (!isObject(value)) {
    yield { kind: 'wrong-type', path, detail: 'must be an object.' };
    return value;
  }
  const fields = type.getFields();
  const members: Record<string, unknown> = {};
  for (const name in fields) {
    const field = fields[name] as GraphQLInputField;
    const member = value[name];
    if (member !== undefined) {
      members[name] = yield* coerceValue(field.type, member, [...path, name]);
    } else if (field.defaultValue !== undefined) members[name] = field.defaultValue;
    else if (isRequiredInputField(field)) yield createMissingIssue([...path, name], undefined);
  }
  yield* listUnknownMembers(type, value, path);
  if (type.isOneOf) yield* listOneOfIssues(type, value, path);
  return members;
}

function* listUnknownMembers(
  type: GraphQLInputObjectType,
  value: Record<string, unknown>,
  path: Path,
): Generator<Issue> {
  const fields = type.getFields();
  const unknownNames = Object.keys(value).filter((name) => !Object.hasOwn(fields, name));
  if (unknownNames.length === 0) return;
  const findNearestName = createNameFinder(Object.keys(fields));
  for (const name of unknownNames) {
    const detail = `is not a member of ${type.name}.${suggestName(findNearestName, name)}`;
    const shownName = name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}...` : name;
    yield { kind: 'unknown-name', path: [...path, shownName], detail };
  }
}

function* listOneOfIssues(
  type: GraphQLInputObjectType,
  value: Record<string, unknown>,
  path: Path,
): Generator<Issue> {
  const members = Object.keys(type.getFields());
  const [name, ...others] = members.filter((member) => value[member] !== undefined);
  if (name === undefined || others.length > 0) {
    yield { path, detail: `must have exactly one of ${members.join(', ')}.` };
  } else if (value[name] === null) yield createMissingIssue([...path, name], null);
}

function* coerceLeaf(type: GraphQLInputType, value: unknown, path: Path): Coercion {
  if (!isLeafType(type)) return value;
  let reason: string | undefined;
  try {
    const coercedValue = type.parseValue(value);
    if (coercedValue !== undefined) return coercedValue;
  } catch (error) {
    // The messages of custom scalars repeat no value.
    const isDescribed = isEnumType(type) || isSpecifiedScalarType(type);
    if (!isDescribed) reason = truncateMessage((error as Error).message);
  }
  yield { kind: 'wrong-type', path, detail: reason ?? `must be ${describeType(type)}.` };
  return value;
}

const SCALARS: Readonly<Record<string, string>> = {
  Int: 'a 32-bit integer',
  Float: 'a number',
  String: 'a string',
  Boolean: 'true or false',
  ID: 'a string or an integer',
};

/** Describes the values that graphql-js accepts for a type. */
export function describeType(type: GraphQLInputType): string {
  const namedType = getNamedType(type);
  const description = isEnumType(namedType)
    ? `one of ${namedType
        .getValues()
        .map((value) => value.name)
        .join(', ')}`
    : (SCALARS[namedType.name] ??
      `${isInputObjectType(namedType) ? 'an object of type' : 'a'} ${namedType.name}`);
  const isList = isListType(isNonNullType(type) ? type.ofType : type);
  return isList ? `a list of values, each ${description}` : description;
}
