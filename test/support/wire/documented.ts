/** Built-in providers that take the way of a customer's own: exported, read from the text, and compiled. */
import type { DeclaredProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import {
  exportDocument,
  formatProviderDocument,
} from '../../../src/providers/document/export-document.ts';
import type { ProviderDocument } from '../../../src/providers/document/provider-document.ts';
import { readDocument } from '../../../src/providers/document/read-document.ts';

export function readExported(declared: DeclaredProvider): ProviderDocument {
  return readDocument(formatProviderDocument(exportDocument(declared)));
}

/** Returns the declaration that a provider has after its export, with the name of the document. */
export function toDocumented(declared: DeclaredProvider): DeclaredProvider {
  return readExported(declared) as DeclaredProvider;
}
