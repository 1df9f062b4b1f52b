/** Parses and formats documents as YAML and JSON. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { z } from 'zod';
import {
  type DomainError,
  ISSUES_MAX,
  type Issue,
  invalidInput,
  moveIssues,
} from '../../kernel/errors.ts';
import { formatPath, type Path } from '../../kernel/text.ts';
import { parseBounded } from '../../work/bounded-parse.ts';
import type { Call } from '../access/call.ts';
import { convertWords } from '../base/document-words.ts';
import { addIssues, toIssues } from '../base/issues.ts';
import { enumeration } from '../base/resource.ts';
import { listUnstorable } from '../base/storable-input.ts';
import {
  type CanonicalDocument,
  type ParsedDocument,
  projectDocument,
} from './project-document.ts';

export const documentFormat = enumeration('DocumentFormat', 'The format of a project document.', {
  YAML: 'YAML 1.2, as in manifests.',
  JSON: 'JSON with an indentation of two spaces.',
});
type DocumentFormat = z.output<typeof documentFormat>;

/** Formats a document. Equal documents result in equal strings. */
export function formatDocument(document: CanonicalDocument, format: DocumentFormat): string {
  if (format === 'JSON') return `${JSON.stringify(document, null, 2)}\n`;
  return stringify(document, { schema: 'core', lineWidth: 0, aliasDuplicateObjects: false });
}

/** The text of a document in an input. */
export interface DocumentText {
  projectId: string;
  /** The path of the string in the input, like `document`. */
  path: Path;
  text: string;
}

/**
 * Parses a document. JSON is parsed as YAML, which includes it. Throws BAD_USER_INPUT with the line and the column of every
 * issue.
 */
export async function parseDocument(
  { manifests }: Pick<Call, 'manifests'>,
  source: DocumentText,
): Promise<ParsedDocument> {
  const result = await manifests.readDocument(source.projectId, source.text);
  if ('faults' in result) {
    throw invalidInput(result.faults.map((fault): Issue => ({ path: source.path, ...fault })));
  }
  const { value } = result;
  const issues: Issue[] = [...listUnstorable(value).take(ISSUES_MAX)];
  if (issues.length > 0) throw await createLocatedError({ manifests }, source, issues);
  // Each step takes tens of milliseconds for a document of the maximum length.
  await yieldToEventLoop();
  const convertedValue = convertWords(projectDocument, value, { path: [], issues });
  const { data: document, error } = parseBounded(projectDocument, convertedValue);
  const reportedNames = new Set(issues.map(({ path }) => formatPath(path)));
  const schemaIssues = error ? toIssues(error, value, projectDocument) : [];
  addIssues(
    issues,
    schemaIssues.filter(({ path }) => !reportedNames.has(formatPath(path))),
  );
  if (!document || issues.length > 0) throw await createLocatedError({ manifests }, source, issues);
  return document;
}

/**
 * Creates an error whose issues have the positions of their values in the document. The paths of `issues` are paths in the
 * document.
 */
export async function createLocatedError(
  { manifests }: Pick<Call, 'manifests'>,
  { projectId, path, text }: DocumentText,
  issues: readonly Issue[],
): Promise<DomainError> {
  const paths = issues.map((issue) => [...issue.path]);
  const result = await manifests.readDocument(projectId, text, paths);
  const positions = 'positions' in result ? result.positions : [];
  return invalidInput(
    moveIssues(issues, (inner) => [...path, ...inner]).map((issue, index) => ({
      ...issue,
      ...positions[index],
    })),
  );
}
