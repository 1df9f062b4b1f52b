/** Reads provider documents. A document with problems is refused with the line and the column of each. */

import type { z } from 'zod';
import { type Issue, invalidInput } from '../../kernel/errors.ts';
import { createMemberSuggester } from '../../kernel/member-names.ts';
import { findValueAt, type Path, printText } from '../../kernel/text.ts';
import { describeZodIssue } from '../../kernel/zod-texts.ts';
import { isTooDeep, LEVELS_MAX, parseBounded } from '../../work/bounded-parse.ts';
import {
  formatFault,
  locateOffset,
  locateValue,
  type ParsedYaml,
  parseYaml,
  type TextPosition,
} from '../../work/yaml-text.ts';
import {
  PROVIDER_DOCUMENT_LENGTH_MAX,
  type ProviderDocument,
  providerDocument,
} from './provider-document.ts';

export type DocumentReading = { document: ProviderDocument } | { issues: Issue[] };

/**
 * Parses YAML, or JSON as a part of it. Returns the document, or all of its problems. `path` is that of the text in the
 * caller's input. A document of the maximum length takes about a second, so the server reads it in a thread.
 */
export function findDocument(text: string, path: Path = ['document']): DocumentReading {
  const parsed = parseYaml(text, PROVIDER_DOCUMENT_LENGTH_MAX);
  if ('faults' in parsed) {
    const issues = parsed.faults.map((fault) =>
      createIssue(path, { detail: formatFault(fault), ...locateOffset(parsed, fault.offset) }),
    );
    return { issues };
  }
  const result = parseValue(parsed.value);
  if ('document' in result) return result;
  return { issues: result.problems.map((problem) => locateProblem(parsed, path, problem)) };
}

/** Returns the document that `findDocument` returns. Throws BAD_USER_INPUT with all problems. */
export function readDocument(text: string, path?: Path): ProviderDocument {
  const result = findDocument(text, path);
  if ('document' in result) return result.document;
  throw invalidInput(result.issues);
}

interface DocumentProblem {
  path: PropertyKey[];
  /** A sentence without its subject. */
  detail: string;
}

/** Checks a parsed document, such as a stored one. Returns it with its defaults, or its problems, at least one. */
export function parseValue(
  value: unknown,
): { document: ProviderDocument } | { problems: DocumentProblem[] } {
  const sizeProblem = findSizeProblem(value);
  if (sizeProblem) return { problems: [sizeProblem] };
  const { data, error } = parseBounded(providerDocument, value);
  if (data) return { document: data };
  const suggest = createMemberSuggester(providerDocument, value);
  return { problems: error.issues.flatMap((issue) => explain(issue, { value, suggest })) };
}

/** Bounds all further work. An alias repeats its value, so the document that it stands for may be longer than its text. */
function findSizeProblem(value: unknown): DocumentProblem | null {
  if (isTooDeep(value)) return { path: [], detail: `must have at most ${LEVELS_MAX} levels.` };
  if (JSON.stringify(value ?? null).length > PROVIDER_DOCUMENT_LENGTH_MAX) {
    return { path: [], detail: `must have at most ${PROVIDER_DOCUMENT_LENGTH_MAX} characters.` };
  }
  const path = findPrototypeKey(value);
  return path && { path, detail: 'is a reserved name.' };
}

/** Returns the path of the first key that would name a prototype. Null if there is none. */
function findPrototypeKey(value: unknown): PropertyKey[] | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, member] of Object.entries(value)) {
    if (key === '__proto__') return [key];
    const path = findPrototypeKey(member);
    if (path) return [Array.isArray(value) ? Number(key) : key, ...path];
  }
  return null;
}

/** The codes of issues for which the schemas declare no message of their own. */
const DESCRIBED_CODES = new Set(['invalid_type', 'invalid_value', 'too_big', 'too_small']);

interface ReadValue {
  /** The parsed document. */
  value: unknown;
  /** Suggests the member that an unknown name probably means. */
  suggest: (path: Path) => string;
}

/** Returns the problems behind an issue. A value that fits none of several forms is compared with the closest one. */
function explain(issue: z.core.$ZodIssue, read: ReadValue): DocumentProblem[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const memberPath = [...path, key];
      return { path: memberPath, detail: `is not a known member.${read.suggest(memberPath)}` };
    });
  }
  if (DESCRIBED_CODES.has(issue.code)) {
    return [{ path, detail: printText(describeZodIssue(issue, findValueAt(read.value, path))) }];
  }
  if (issue.code === 'invalid_key') {
    return issue.issues.map(({ message }) => ({ path, detail: endSentence(message) }));
  }
  if (issue.code !== 'invalid_union') return [{ path, detail: endSentence(issue.message) }];
  const closest = issue.errors.find((issues) => issues.every((inner) => inner.path.length > 0));
  if (!closest) return [{ path, detail: describeForms(issue, read) }];
  return closest.flatMap((inner) => explain({ ...inner, path: [...path, ...inner.path] }, read));
}

function describeForms(issue: z.core.$ZodIssueInvalidUnion, read: ReadValue): string {
  const { errors } = issue;
  if ('options' in issue) return `must be one of ${[issue.options].flat().map(String).join(', ')}.`;
  const details = errors
    .flat()
    .flatMap((inner) => explain({ ...inner, path: [...issue.path, ...inner.path] }, read))
    .map(({ detail }) => detail);
  return [...new Set(details)].join(' Or: ');
}

function endSentence(message: string): string {
  return message.endsWith('.') ? message : `${message}.`;
}

function locateProblem(
  parsed: ParsedYaml,
  documentPath: Path,
  { path, detail }: DocumentProblem,
): Issue {
  return createIssue([...documentPath, ...path], { detail, ...locateValue(parsed, path) });
}

function createIssue(path: Path, located: { detail: string } & TextPosition): Issue {
  return { path, ...located };
}
