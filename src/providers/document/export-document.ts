/** Writes built-in providers as provider documents, to start a document from. */
import { stringify } from 'yaml';
import type { DeclaredProvider } from '../declarative/declarative-provider.ts';

/** Returns the document of a built-in provider. Its name is `x-` and the provider's name in lower case with dashes. */
export function exportDocument(declared: DeclaredProvider): Record<string, unknown> {
  const { name, displayName, ...members } = declared;
  return { name: toDocumentName(name), displayName, ...members };
}

export function toDocumentName(name: string): string {
  return `x-${name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase()}`;
}

/** Formats a document as YAML. It repeats equal parts, because aliases are hard to edit. */
export function formatProviderDocument(document: Record<string, unknown>): string {
  return stringify(document, { schema: 'core', lineWidth: 0, aliasDuplicateObjects: false });
}
