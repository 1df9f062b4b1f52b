/** Converts names of a contract to type and member names in generated code. */
import type { ContractFinding, ObjectContract } from '../contract-resource.ts';
import type { FieldContract } from '../field-contract.ts';

/**
 * Converts a name to a GraphQL name, which depends on no other name. In a name of ASCII characters, other characters than
 * letters and digits become `_`: `First Name` becomes `First_Name`. In other names, they become their code points, so that
 * different names stay different: `Größe` becomes `Gr_x00F6__x00DF_e`.
 */
export function toMemberName(name: string): string {
  return IS_ASCII.test(name) ? toAsciiMemberName(name) : escapeName(name);
}

const IS_ASCII = /^\p{ASCII}*$/u;

function toAsciiMemberName(name: string): string {
  // GraphQL reserves names that begin with `__`.
  const safeName = name.replaceAll(/[^A-Za-z0-9_]+/g, '_').replace(/^_{2,}/, '_');
  const memberName = /^[0-9]/.test(safeName) || safeName === '' ? `_${safeName}` : safeName;
  // Text that reads as an escaped character is escaped itself.
  return memberName.replaceAll(/_(?=x[0-9A-F]{4,6}_)/g, escapeCharacter);
}

/**
 * Escapes all characters that GraphQL names can't have, like SQL/XML (ISO/IEC 9075-14). The name can be decoded, because an
 * underscore that would begin an escaped character is escaped itself. The first character is escaped if it is no letter.
 */
function escapeName(name: string): string {
  const escapedCharacters = /^[0-9_]|[^A-Za-z0-9_]|_(?=x[0-9A-F]{4,6}[^A-Za-z0-9])/gu;
  return name.replaceAll(escapedCharacters, escapeCharacter);
}

function escapeCharacter(character: string): string {
  const codePoint = character.codePointAt(0) ?? 0;
  return `_x${codePoint.toString(16).toUpperCase().padStart(4, '0')}_`;
}

/** Returns the description of a field in generated code. It contains the name if generated code has another. */
export function describeMember({
  name,
  description,
}: Pick<FieldContract, 'name' | 'description'>): string | null {
  if (toMemberName(name) === name) return description;
  return description === null ? `\`${name}\`` : `\`${name}\`: ${description}`;
}

/** Returns the prefix of the names of an object's types: `People` for `people`. */
export function toTypeName(name: string): string {
  const memberName = toMemberName(name);
  return memberName.slice(0, 1).toUpperCase() + memberName.slice(1);
}

/** Returns the name of the query that reads a record of the object by its id. */
export function toByIdQueryName(name: string): string {
  return `${toMemberName(name)}ById`;
}

/** Members that the typed API adds to records and inputs. A field with the same name replaces the member. */
const ADDED_MEMBERS: readonly string[] = ['_extras', '_installation', '_otherFields', '_raw'];

/** Lists findings for names that become equal in generated code. Generated code contains only the first of them. */
export function listNameClashes(
  objects: readonly Pick<ObjectContract, 'name' | 'fields' | 'verbs'>[],
): ContractFinding[] {
  const clashes = [...listRepeats(objects, toTypeName)].map(
    ([{ name }, first]): ContractFinding => ({
      kind: 'NAME_CLASH',
      object: name,
      field: null,
      message: `Generated code has no types for ${name}, because ${first.name} gets the same generated type names. Map one of them to another name.`,
    }),
  );
  for (const { name: object, fields } of objects) {
    for (const [{ name: field }, first] of listRepeats(fields, toMemberName)) {
      const message = `Generated code has no ${field} of ${object}, because ${first.name} gets the same generated name. Map one of them to another name.`;
      clashes.push({ kind: 'NAME_CLASH', object, field, message });
    }
    for (const { name: field } of fields) {
      const member = toMemberName(field);
      if (!ADDED_MEMBERS.includes(member)) continue;
      const message = `The typed API has the field ${field} of ${object} in place of its own member ${member}. Map the field to another name.`;
      clashes.push({ kind: 'NAME_CLASH', object, field, message });
    }
  }
  return [...clashes, ...listByIdClashes(objects)];
}

/** Lists findings for clashes such as `peopleById`: the by-id query of `people`, and the list of an object `peopleById`. */
function listByIdClashes(
  objects: readonly Pick<ObjectContract, 'name' | 'verbs'>[],
): ContractFinding[] {
  const names = new Map(objects.map(({ name }) => [toMemberName(name), name]));
  return objects.flatMap(({ name: object, verbs }): ContractFinding[] => {
    const otherObject = verbs.includes('READ_BY_ID')
      ? names.get(toByIdQueryName(object))
      : undefined;
    if (otherObject === undefined) return [];
    const message = `The typed API can't read ${object} by id, because the list of the object ${otherObject} has the same generated name. Map one of them to another name.`;
    return [{ kind: 'NAME_CLASH', object, field: null, message }];
  });
}

/** Drops each item that repeats the generated name of an earlier item. */
export function dropRepeatedNames<T extends { name: string }>(
  items: readonly T[],
  toName: (name: string) => string,
): T[] {
  const repeats = new Set([...listRepeats(items, toName)].map(([item]) => item));
  return items.filter((item) => !repeats.has(item));
}

/** Yields each item that repeats the generated name of an earlier item, together with the earlier item. */
function* listRepeats<T extends { name: string }>(
  items: readonly T[],
  toName: (name: string) => string,
): Generator<[item: T, first: T]> {
  const firstItems = new Map<string, T>();
  for (const item of items) {
    const name = toName(item.name);
    const first = firstItems.get(name);
    if (first) yield [item, first];
    else firstItems.set(name, item);
  }
}
