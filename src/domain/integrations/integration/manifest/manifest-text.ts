/** Parses the YAML of manifests and of project documents. */
import {
  formatFault,
  locateOffset,
  locateValue,
  parseYaml,
  type TextPosition,
} from '../../../../work/yaml-text.ts';

/**
 * The maximum length of a manifest, which takes up to 0.6 s to parse. A manifest of a hundred objects with their fields has
 * a quarter of this length.
 */
export const MANIFEST_LENGTH_MAX = 128 * 1024;
/** The maximum length of a project document, which holds all manifests of a project. It takes up to 3 s to parse. */
export const DOCUMENT_LENGTH_MAX = 512 * 1024;
export type ManifestResult = { value: unknown } | { problem: string };

export type DocumentResult =
  | { value: unknown; positions: TextPosition[] }
  | { faults: ({ detail: string } & TextPosition)[] };

/** Returns the value of a manifest, or its first problem as a sentence without a subject. */
export function readManifestText(text: string): ManifestResult {
  const parsed = parseYaml(text, MANIFEST_LENGTH_MAX);
  if (!('faults' in parsed)) return { value: parsed.value };
  const [{ problem, offset }] = parsed.faults;
  const location = offset === undefined ? '.' : `: see line ${parsed.lines.linePos(offset).line}.`;
  return { problem: `${problem}${location}` };
}

/** Returns the value of a project document with the positions of the values at `paths`, or all syntax errors. */
export function readDocumentText(text: string, paths: readonly PropertyKey[][]): DocumentResult {
  const parsed = parseYaml(text, DOCUMENT_LENGTH_MAX);
  if (!('faults' in parsed)) {
    return { value: parsed.value, positions: paths.map((path) => locateValue(parsed, path)) };
  }
  const faults = parsed.faults.map((fault) => ({
    detail: formatFault(fault),
    ...locateOffset(parsed, fault.offset),
  }));
  return { faults };
}

/** A text to read. `paths` is null for a manifest, and has the paths whose positions are needed for a project document. */
export interface ReadJob {
  text: string;
  paths: readonly PropertyKey[][] | null;
}

export function readJob({ text, paths }: ReadJob): ManifestResult | DocumentResult {
  return paths === null ? readManifestText(text) : readDocumentText(text, paths);
}
