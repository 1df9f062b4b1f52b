/** A request whose answer is read here, as the vendor takes all of them. */
import type { ProviderAnswer, ProviderRequest, ProviderSession } from '../contract.ts';
import type { RequestPurpose } from '../reading-answers.ts';
import { failure, hasSucceeded, type Vendor } from './failure.ts';
import { fillTexts } from './template.ts';

/** Throws ProviderError if the answer is not a success. */
export async function ask(
  vendor: Vendor,
  session: ProviderSession,
  request: Omit<ProviderRequest, 'headers'>,
  purpose: RequestPurpose = 'READ',
): Promise<ProviderAnswer> {
  const headers = fillTexts(vendor.declaration.headers, session);
  const answer = await session.send({ ...request, headers });
  if (hasSucceeded(vendor, answer)) return answer;
  throw failure(vendor, answer, purpose);
}
