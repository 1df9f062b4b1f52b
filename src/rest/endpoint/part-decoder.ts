import { z } from 'zod';
import { createInputIssue } from '../../domain/issues.ts';
import { timestamp } from '../../domain/timestamp.ts';
import { unwrapSchema } from '../../domain/unwrap-schema.ts';
import { ISSUES_MAX, type Issue, invalidInput } from '../../errors.ts';
import { findEnumName, toWord } from './words.ts';

type Path = readonly PropertyKey[];

/**
 * Converts a part of a request into values that the domain's schema accepts: words into names of enums, ISO strings
 * into times, and strings of a query into numbers and booleans. Reports unknown members, unknown words and invalid
 * times. The domain's schema reports all other invalid values.
 */
export class PartDecoder {
  readonly issues: Issue[] = [];
  readonly #part: Issue['in'];

  constructor(part: Issue['in']) {
    this.#part = part;
  }

  /** Throws BAD_USER_INPUT if the part is not an object. */
  decode(schema: z.ZodObject, part: unknown): unknown {
    if (typeof part === 'object' && !Array.isArray(part)) return this.#decode(schema, part, []);
    const name = this.#part;
    throw invalidInput([{ in: name, name, detail: 'must be a JSON object.' }]);
  }

  #decode(schema: z.ZodType, value: unknown, path: Path): unknown {
    if (value === undefined || value === null) return value;
    const { inner } = unwrapSchema(schema);
    if (inner instanceof z.ZodObject) return this.#decodeMembers(inner, value, path);
    if (inner instanceof z.ZodRecord) return this.#decodeEntries(inner, value, path);
    if (inner instanceof z.ZodArray) return this.#decodeItems(inner, value, path);
    if (inner instanceof z.ZodEnum) return this.#decodeWord(inner, value, path);
    if (inner instanceof z.ZodDate) return this.#decodeTime(value, path);
    return this.#hasOnlyStrings ? decodeString(inner, value) : value;
  }

  #decodeMembers(schema: z.ZodObject, value: unknown, path: Path): unknown {
    if (typeof value !== 'object' || Array.isArray(value)) return value;
    const members = value as Record<string, unknown>;
    if (!(schema.def.catchall instanceof z.ZodUnknown)) {
      // An ignored member may be a misspelled one.
      const unknownNames = Object.keys(members).filter((name) => !(name in schema.shape));
      for (const name of unknownNames) {
        const issue = createInputIssue([...path, name], 'is not a field of this request.');
        this.#report({ ...issue, kind: 'unknown-name' });
      }
    }
    return Object.fromEntries(
      Object.entries<z.ZodType>(schema.shape).flatMap(([name, type]) => {
        if (!Object.hasOwn(members, name)) return [];
        const member = this.#decode(type, members[name], [...path, name]);
        return member === undefined ? [] : [[name, member]];
      }),
    );
  }

  #decodeEntries({ valueType }: z.ZodRecord, value: unknown, path: Path): unknown {
    if (typeof value !== 'object' || Array.isArray(value)) return value;
    const entries = Object.entries(value as object).map(([name, entry]) => [
      name,
      this.#decode(valueType as z.ZodType, entry, [...path, name]),
    ]);
    return Object.fromEntries(entries);
  }

  #decodeItems({ element }: z.ZodArray, value: unknown, path: Path): unknown {
    const items = this.#hasOnlyStrings && !Array.isArray(value) ? [value] : value;
    if (!Array.isArray(items)) return items;
    return items.map((item, index) => this.#decode(element as z.ZodType, item, [...path, index]));
  }

  #decodeWord(schema: z.ZodEnum, value: unknown, path: Path): unknown {
    const enumName = findEnumName(schema);
    const names = schema.options as string[];
    const name = names.find((name) => toWord(enumName, name) === value);
    if (name !== undefined) return name;
    const allowed = names.map((name) => toWord(enumName, name)).join(', ');
    this.#report(createInputIssue(path, `must be one of ${allowed}.`, value));
    // The domain's schema would accept the name of the enum's value, so the value must not reach it.
    return null;
  }

  #decodeTime(value: unknown, path: Path): unknown {
    const { data, success } = timestamp.safeParse(value);
    if (success) return data;
    this.#report(createInputIssue(path, 'must be a timestamp like 2026-01-31T12:00:00Z.'));
    return value;
  }

  /** True for the path, the query and the headers. */
  get #hasOnlyStrings(): boolean {
    return this.#part !== 'body';
  }

  #report(issue: Issue): void {
    if (this.issues.length < ISSUES_MAX) this.issues.push({ ...issue, in: this.#part });
  }
}

function decodeString(schema: z.ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodNumber && /^-?\d+(\.\d+)?$/.test(String(value))) return Number(value);
  if (schema instanceof z.ZodBoolean && value === 'true') return true;
  if (schema instanceof z.ZodBoolean && value === 'false') return false;
  return value;
}
