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
export type DocumentResult =
  | { value: unknown; positions: TextPosition[] }
  | { faults: ({ detail: string } & TextPosition)[] };

/** A text to read, and the paths whose positions are needed. */
export interface ReadJob {
  text: string;
  paths: readonly PropertyKey[][];
}

/** Returns the value of a text with the positions of the values at `paths`, or all syntax errors. */
export function readDocumentText(
  { text, paths }: ReadJob,
  lengthMax = DOCUMENT_LENGTH_MAX,
): DocumentResult {
  const parsed = parseYaml(text, lengthMax);
  if (!('faults' in parsed)) {
    return { value: parsed.value, positions: paths.map((path) => locateValue(parsed, path)) };
  }
  const faults = parsed.faults.map((fault) => ({
    detail: formatFault(fault),
    ...locateOffset(parsed, fault.offset),
  }));
  return { faults };
}
