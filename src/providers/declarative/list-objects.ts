/** The objects of an account: those of the declaration, and what the vendor lists beside them. */
import type { ObjectSummary, ProviderSession } from '../contract.ts';
import { ProviderError } from '../provider-error.ts';
import { failure, hasSucceeded, type Vendor } from './failure.ts';
import { valueAt } from './json.ts';
import { fillPath, fillTexts } from './template.ts';

export async function listObjects(
  vendor: Vendor,
  session: ProviderSession,
): Promise<ObjectSummary[]> {
  const { objects, objectList: list, headers } = vendor.declaration;
  const known = Object.entries(objects).map(([name, { displayName }]) => ({ name, displayName }));
  if (!list) return known;
  const answer = await session.send({
    method: 'GET',
    path: fillPath(list.path, {}, session),
    query: list.query,
    headers: fillTexts(headers, session),
  });
  if (!hasSucceeded(vendor, answer)) throw failure(vendor, answer, 'READ');
  const found = valueAt(answer.body, list.objects);
  if (!Array.isArray(found)) {
    throw new ProviderError('RETRYABLE', 'The answer has no list of objects');
  }
  const told = found.map((one) => ({
    name: String(valueAt(one, list.name)),
    displayName: String(valueAt(one, list.displayName) ?? valueAt(one, list.name)),
  }));
  return [...new Map([...known, ...told].map((one) => [one.name, one])).values()];
}
