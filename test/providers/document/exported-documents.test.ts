/** Tests that every built-in declared provider can be exported, and that its document means the same. */
import { expect, test } from 'vitest';
import { providerDeclaration } from '../../../src/providers/declarative/declaration/declaration.ts';
import { createDeclarativeProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import { compileDocument } from '../../../src/providers/document/compile-document.ts';
import {
  exportDocument,
  formatProviderDocument,
  toDocumentName,
} from '../../../src/providers/document/export-document.ts';
import { readDocument } from '../../../src/providers/document/read-document.ts';
import { readExported } from '../../support/wire/documented.ts';

test.each(
  DECLARATIONS.map((declared) => [declared.name, declared] as const),
)('exports %s as a document that means the same', (_, declared) => {
  const document = readExported(declared);
  expect(document.name).toBe(toDocumentName(declared.name));
  expect(document.api).toEqual(providerDeclaration.parse(declared.api));
  const { name: _name, ...compiled } = describe(compileDocument(document).provider);
  const { name: _builtIn, ...builtIn } = describe(createDeclarativeProvider(declared));
  expect(compiled).toEqual(builtIn);
});

/** Returns the provider without its functions. */
function describe(provider: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(provider));
}

test('reads a document as JSON', () => {
  for (const declared of DECLARATIONS.slice(0, 3)) {
    const json = JSON.stringify(exportDocument(declared), null, 2);
    expect(readDocument(json)).toEqual(readExported(declared));
  }
});

test('writes no aliases, which are hard to edit', () => {
  for (const declared of DECLARATIONS) {
    expect(formatProviderDocument(exportDocument(declared))).not.toMatch(/: [&*]a\d/);
  }
});
