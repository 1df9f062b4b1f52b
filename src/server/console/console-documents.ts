/** The operations of the console and the connect page by their ids, as relay-compiler has written them at the build. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { manifest, type OwnDocuments } from '../../graphql/execution/trusted-documents.ts';
import { BUILT } from './build-console.ts';

const MANIFEST = join(BUILT, 'documents.json');

/**
 * The manifest is read when an id is first asked for that nobody else knows: a page may come from another process, and
 * the console may be built after the start. It is read again when it has changed.
 */
export function createConsoleDocuments(path = MANIFEST): OwnDocuments {
  let documents = new Map<string, string>();
  let readAt = 0;
  return (id) => {
    const known = documents.get(id);
    if (known !== undefined) return known;
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
    // It is being replaced by a build.
    return new Map();
  }
}
