/** The operations of the console and the connect page by id, from the manifest of relay-compiler. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { manifest, type OwnDocuments } from '../../graphql/execution/trusted-documents.ts';
import { BUILT } from './build-console.ts';

const MANIFEST = join(BUILT, 'documents.json');

/**
 * Reads the manifest when a request has an unknown id, and again after it changed. Another process may have served the
 * page, and the console may be built after the start.
 */
export function createConsoleDocuments(path = MANIFEST): OwnDocuments {
  let documents = new Map<string, string>();
  let readAt = 0;
  return (id) => {
    const document = documents.get(id);
    if (document !== undefined) return document;
    const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (changedAt !== readAt) {
      documents = changedAt === 0 ? new Map() : readDocuments(path);
      readAt = changedAt;
    }
    return documents.get(id);
  };
}

function readDocuments(path: string): Map<string, string> {
  try {
    return new Map(Object.entries(manifest.parse(JSON.parse(readFileSync(path, 'utf8')))));
  } catch {
    // A build is replacing the file.
    return new Map();
  }
}
