/** Reads one page of each declared object from a real account, and checks that each record has its time of change. */
import type { Provider, ProviderSession } from '../../src/providers/contract.ts';
import { providerDeclaration } from '../../src/providers/declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../src/providers/declarative/declarative-provider.ts';
import { findValue } from '../../src/providers/declarative/json.ts';
import { parseTime } from '../../src/providers/declarative/times.ts';
import { ProviderError } from '../../src/providers/provider-error.ts';
import { openAccountSession } from './provider-account.ts';

/** Enough records to show their shape. */
const PAGE_SIZE = 10;

/** Reads the account of the credentials in the environment, if there are any. Returns false if that failed. */
export async function readAccount(
  declared: DeclaredProvider,
  provider: Provider,
): Promise<boolean> {
  await using session = openAccountSession(provider, process.env);
  if (session) {
    console.log(`Reading a page of each object from ${session.baseUrl}; nothing is written.`);
    return await readObjects(declared, provider, session);
  }
  console.log('No account is read: set PROVIDER_TOKEN, or PROVIDER_USER and PROVIDER_PASSWORD.');
  return true;
}

/** Prints a line for each object. Returns true if all objects could be read and each record has a time. */
async function readObjects(
  declared: DeclaredProvider,
  { capabilities }: Provider,
  session: ProviderSession,
): Promise<boolean> {
  const { objects } = providerDeclaration.parse(declared.api);
  let allPassed = true;
  for (const [objectName, { changedAt, standardFields = {} }] of Object.entries(objects)) {
    try {
      const read = { objectName, fields: Object.keys(standardFields), pageSize: PAGE_SIZE };
      const page = await capabilities.readPage?.(session, read);
      const records = page?.records ?? [];
      const recordsWithoutTime = records.filter(
        ({ raw }) =>
          changedAt && parseTime(findValue(raw, changedAt.at), changedAt.format) === null,
      );
      const results = [
        `${records.length} records`,
        page?.nextCursor ? 'more follow' : 'the last page',
      ];
      if (recordsWithoutTime.length > 0)
        results.push(`${recordsWithoutTime.length} without a time at ${changedAt?.at}`);
      console.log(`  ${objectName}: ${results.join(', ')}`);
      allPassed &&= recordsWithoutTime.length === 0;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      console.log(`  ${objectName}: ${error.kind}, ${error.message}`);
      allPassed = false;
    }
  }
  return allPassed;
}
