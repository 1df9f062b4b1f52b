/** The words of project documents and manifests: enum names in lower case, and wire names of event types. */
import { z } from 'zod';
import type { NotificationEventType } from '../../database/generated/enums.ts';
import { EVENTS } from '../../events/event-types.ts';
import { ISSUES_MAX, type Issue } from '../../kernel/errors.ts';
import { createNameFinder, type NameFinder, suggestName } from '../../kernel/nearest-name.ts';
import { unwrapSchema } from '../../kernel/unwrap-schema.ts';
import { isObject } from '../../work/is-object.ts';
import { createInputIssue } from './issues.ts';
import { toStoredWord } from './resource.ts';

/** Returns the word for an enum's name. */
export function toDocumentWord(name: string): string {
  return Object.hasOwn(EVENTS, name)
    ? EVENTS[name as NotificationEventType].wireName
    : toStoredWord(name);
}

interface ConvertedValue {
  path: readonly PropertyKey[];
  /** Receives the issues of the value. */
  issues: Issue[];
  /** The finders of members, by schema. Objects of one schema share the limit of searches. */
  finders?: Map<z.ZodObject, NameFinder>;
}

/**
 * Converts the words of a document to the enum names that the schema accepts. Adds issues for unknown words, and for
 * members that the schema does not have, which zod would ignore.
 */
export function convertWords(
  schema: z.ZodType,
  value: unknown,
  { path, issues, finders = new Map() }: ConvertedValue,
): unknown {
  const { inner } = unwrapSchema(schema);
  if (inner instanceof z.ZodEnum && typeof value === 'string') {
    const names = inner.options as string[];
    const name = names.find((candidate) => toDocumentWord(candidate) === value);
    if (name !== undefined) return name;
    const words = names.map((name) => toDocumentWord(name)).join(', ');
    issues.push(createInputIssue(path, `must be one of ${words}.`, value));
    // The schema reports the absent value at the same path. Its issue is ignored, because the path has this issue.
    return undefined;
  }
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item, index) =>
      convertWords(inner.element as z.ZodType, item, { path: [...path, index], issues, finders }),
    );
  }
  if (!(inner instanceof z.ZodObject) || !isObject(value)) return value;
  const shape = inner.shape as Record<string, z.ZodType>;
  const converted: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member = shape[name];
    if (member && Object.hasOwn(shape, name)) {
      converted[name] = convertWords(member, value[name], {
        path: [...path, name],
        issues,
        finders,
      });
    } else if (issues.length < ISSUES_MAX) {
      const names = Object.keys(shape);
      const findNearestName = finders.get(inner) ?? createNameFinder(names);
      finders.set(inner, findNearestName);
      const suggestion = suggestName(findNearestName, name);
      const detail = `is not a member here: use ${names.join(', ')}.${suggestion}`;
      issues.push({ ...createInputIssue([...path, name], detail), kind: 'unknown-name' });
    }
  }
  return converted;
}
