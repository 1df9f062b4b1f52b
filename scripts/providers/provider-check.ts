/** Checks the file of a provider document, and reads an account with it. */

import { readFileSync } from 'node:fs';
import { DomainError, type Issue } from '../../src/kernel/errors.ts';
import { formatPath, printText } from '../../src/kernel/text.ts';
import { listCapabilities } from '../../src/providers/contract.ts';
import type { DeclaredProvider } from '../../src/providers/declarative/declarative-provider.ts';
import { compileDocument } from '../../src/providers/document/compile-document.ts';
import type { ProviderDocument } from '../../src/providers/document/provider-document.ts';
import { readDocument } from '../../src/providers/document/read-document.ts';
import { readAccount } from './provider-reading.ts';

/** Prints what the document supports, or its problems as `file:line:column`. Returns true if there are none. */
export async function checkDocumentFile(file: string): Promise<boolean> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    console.error(`${file}: can't be read (${(error as NodeJS.ErrnoException).code})`);
    return false;
  }
  const document = readOrReport(file, text);
  if (!document) return false;
  const { provider } = compileDocument(document);
  console.log(`${document.name}: ${listCapabilities(provider).join(', ')}`);
  const objects = (provider.commonObjects ?? []).map(
    ({ name, supports }) => `${name} (${supports.join(', ')})`,
  );
  for (const object of objects) console.log(`  ${object}`);
  return document.api ? readAccount(document as DeclaredProvider, provider) : true;
}

function readOrReport(file: string, text: string): ProviderDocument | null {
  try {
    return readDocument(text);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    for (const issue of error.issues ?? []) console.error(formatIssue(file, issue));
    return null;
  }
}

function formatIssue(file: string, { path: [, ...path], detail, line, column }: Issue): string {
  const member = formatPath(path);
  return [`${file}:${line}:${column}`, ...(member ? [member] : []), printText(detail)].join(': ');
}
