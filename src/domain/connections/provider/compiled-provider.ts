/** Creates the provider of a project's document. */
import type { Row } from '../../../database/statements/tables.ts';
import type { Provider } from '../../../providers/contract.ts';
import { compileDocument } from '../../../providers/document/compile-document.ts';
import {
  type ProviderDocument,
  providerDocument,
} from '../../../providers/document/provider-document.ts';
import { hashTargets } from './credential-targets.ts';

type StoredDocument = Pick<Row<'CustomProvider'>, 'projectId' | 'id' | 'revision' | 'content'>;

/** Returns the provider of a stored document, or the reason why this version of the gateway can't use it. */
export function compileProvider(row: StoredDocument): { provider: Provider } | { problem: string } {
  const { data, error } = providerDocument.safeParse(row.content);
  if (!data) return { problem: error.issues.map(describeIssue).join(' ') };
  try {
    return { provider: createCustomProvider(row, data) };
  } catch (cause) {
    return { problem: cause instanceof Error ? cause.message : String(cause) };
  }
}

function describeIssue({ path, message }: { path: PropertyKey[]; message: string }): string {
  return `${path.map(String).join('.')}: ${message}.`;
}

/** Throws if the declaration in the document is invalid. */
export function createCustomProvider(
  row: Pick<StoredDocument, 'projectId' | 'id' | 'revision'>,
  document: ProviderDocument,
): Provider {
  const { entry, provider } = compileDocument(document);
  const { projectId } = row;
  const credentialTargets = hashTargets(entry);
  const revision = toDocumentRevision(row);
  return { ...provider, document: { projectId, revision, credentialTargets } };
}

/** Returns the `document.revision` of the provider that a stored document describes. */
export function toDocumentRevision({ id, revision }: Pick<StoredDocument, 'id' | 'revision'>) {
  return `${id} ${revision}`;
}
