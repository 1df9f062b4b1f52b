/** How many records an object has, if the vendor has a request for that beside the list. */
import type { ProviderSession } from '../../contract.ts';
import { ask } from '../ask.ts';
import type { Vendor } from '../failure.ts';
import { valueAt } from '../json.ts';
import { fillPath, fillQuery } from '../template.ts';
import type { ListRead } from './list-page.ts';

/** Of a read without bounds or conditions. Null if the vendor does not tell: a read goes on without it. */
export async function countAll(
  vendor: Vendor,
  session: ProviderSession,
  { object: { count }, read, variables }: ListRead,
): Promise<number | null> {
  const isWhole = !read.since && !read.until && !read.filters?.length;
  if (!count || !isWhole) return null;
  const answer = await ask(vendor, session, {
    method: 'GET',
    path: fillPath(count.path, variables, session),
    query: fillQuery(count.query, variables, session),
  }).catch(() => null);
  const found = Number(valueAt(answer?.body, count.at) ?? Number.NaN);
  return Number.isSafeInteger(found) ? found : null;
}
