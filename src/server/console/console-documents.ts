/** Finds the operations of the console and the connect page by id, in the manifest of relay-compiler. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  documentManifest,
  type FindPageDocument,
} from '../../graphql/execution/trusted-documents.ts';
import { CONSOLE_DIST } from './console-build.ts';

const MANIFEST = join(CONSOLE_DIST, 'documents.json');

/**
 * Returns a function that reads the manifest for the first unknown id, and again for an unknown id after the file has
 * changed. The console may be built after the start, and another process may serve pages of a later build.
 */
export function createConsoleDocuments(): FindPageDocument {
  let documents = new Map<string, string>();
  let lastModifiedMs = 0;
  return (id) => {
    const document = documents.get(id);
    if (document !== undefined) return document;
    const modifiedMs = statSync(MANIFEST, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (modifiedMs !== lastModifiedMs) {
      documents = modifiedMs === 0 ? new Map() : readDocuments();
      lastModifiedMs = modifiedMs;
    }
    return documents.get(id);
  };
}

function readDocuments(): Map<string, string> {
  try {
    const manifest = JSON.parse(readFileSync(MANIFEST, 'utf8'));
    return new Map(Object.entries(documentManifest.parse(manifest)));
  } catch {
    // The file is incomplete while a build replaces it.
    return new Map();
  }
}
