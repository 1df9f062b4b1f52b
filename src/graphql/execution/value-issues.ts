/**
 * Lists what is wrong with the value of a variable, with the path of each member. graphql-js reports a missing or unknown
 * member at the path of its object, and repeats values, which may be secrets.
 */
import {
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

/** Yields the issues of a value. Yields none for a value that graphql-js accepts. */
export function* listValueIssues(
  type: GraphQLInputType,
  value: unknown,
  path: Path,
): Generator<Issue> {
  if (isNonNullType(type)) {
    if (value != null) yield* listValueIssues(type.ofType, value, path);
    else yield createMissingIssue(path, value);
    return;
  }
  if (value == null) return;
  if (isListType(type)) {
    if (!Array.isArray(value)) yield* listValueIssues(type.ofType, value, path);
    else {
      for (const [index, item] of value.entries()) {
        yield* listValueIssues(type.ofType, item, [...path, index]);
      }
    }
    return;
  }
  if (isInputObjectType(type)) yield* listMemberIssues(type, value, path);
  else yield* listLeafIssues(type, value, path);
}

function createMissingIssue(path: Path, value: unknown): Issue {
  return value === undefined
    ? { kind: 'missing-value', path, detail: 'is required.' }
    : { kind: 'missing-value', path, detail: 'must not be null.' };
}

function* listMemberIssues(
  type: GraphQLInputObjectType,
  value: unknown,
  path: Path,
): Generator<Issue> {
  if (!isObject(value)) {
    yield { kind: 'wrong-type', path, detail: 'must be an object.' };
    return;
  }
  const fields = type.getFields();
  for (const field of Object.values(fields)) {
    const member = value[field.name];
    const memberPath = [...path, field.name];
    if (member !== undefined) yield* listValueIssues(field.type, member, memberPath);
    else if (isRequiredInputField(field)) yield createMissingIssue(memberPath, undefined);
  }
  const findNearestName = createNameFinder(Object.keys(fields));
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(fields, name)) continue;
    const detail = `is not a member of ${type.name}.${suggestName(findNearestName, name)}`;
    const shownName = name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}...` : name;
    yield { kind: 'unknown-name', path: [...path, shownName], detail };
  }
  if (type.isOneOf) yield* listOneOfIssues(type, value, path);
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

function* listLeafIssues(type: GraphQLInputType, value: unknown, path: Path): Generator<Issue> {
  if (!isLeafType(type)) return;
  const expected = { kind: 'wrong-type', path, detail: `must be ${describeType(type)}.` } as const;
  try {
    if (type.parseValue(value) === undefined) yield expected;
  } catch (error) {
    // The messages of custom scalars repeat no value.
    const isDescribed = isEnumType(type) || isSpecifiedScalarType(type);
    yield isDescribed
      ? expected
      : { ...expected, detail: truncateMessage((error as Error).message) };
  }
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
