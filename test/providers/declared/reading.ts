/** Reads an object of a declared provider from a vendor's server. */
import { createDeclarativeProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import type { PageRead, ProviderRecord } from '../../../src/providers/moving-records.ts';
import { createPlainSession } from '../../support/providers/provider-session.ts';
import { getDeclaration } from '../../support/wire/declarations.ts';

export type Reading = Pick<PageRead, 'objectName'> & Partial<PageRead>;

/** Yields the records of each page, so that a test can change the account between two pages. */
export async function* readPages(
  url: string,
  providerName: string,
  read: Reading,
): AsyncGenerator<ProviderRecord[]> {
  const { readPage } = createDeclarativeProvider(getDeclaration(providerName)).capabilities;
  if (!readPage) throw new Error(`${providerName} does not read`);
  const session = createPlainSession(url, { authorization: 'Bearer vendor-token' });
  let cursor: string | undefined;
  do {
    const page = await readPage(session, {
      ...{ fields: [], pageSize: 100 },
      ...read,
      ...(cursor !== undefined && { cursor, followsPage: true }),
    });
    yield page.records;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

export async function readAll(
  url: string,
  providerName: string,
  read: Reading,
): Promise<ProviderRecord[]> {
  const records: ProviderRecord[] = [];
  for await (const page of readPages(url, providerName, read)) records.push(...page);
  return records;
}
