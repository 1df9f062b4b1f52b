/** Parses the YAML of manifests, of project documents and of provider documents. */

import type { Path } from '../../../../kernel/text.ts';
import {
  type DocumentReading,
  findDocument,
} from '../../../../providers/document/read-document.ts';
import {
  formatFault,
  locateOffset,
  locateValue,
  parseYaml,
  type TextPosition,
} from '../../../../work/yaml-text.ts';
import { toStorableJson } from '../../../base/storable-json.ts';

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

/** A provider document to read. `path` is that of the text in the caller's input. */
export interface ProviderReadJob {
  text: string;
  path: Path;
}

export type Reading = DocumentResult | DocumentReading;

export function readText(job: ReadJob | ProviderReadJob): Reading {
  if ('paths' in job) return readDocumentText(job);
  // The content is stored as JSON.
  return toStorableJson(findDocument(job.text, job.path));
}
