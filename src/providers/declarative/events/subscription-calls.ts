/** Subscriptions that a declaration says how to make by requests. */
import type { ProviderAnswer, ProviderSession } from '../../contract.ts';
import { ProviderError } from '../../provider-error.ts';
import type {
  CreatedSubscription,
  SubscriptionCalls,
  WantedSubscription,
} from '../../subscribing.ts';
import { ask } from '../ask.ts';
import type { Events, Subscription } from '../declaration/events-declaration.ts';
import { textsIn, type Vendor } from '../failure.ts';
import { findId, valueAt } from '../json.ts';
import { fillJson, fillPath } from '../template.ts';
import { bodiesFor } from './subscription-bodies.ts';

/** Between the vendor's ids of what one subscription of ours is there. No vendor has it in an id. */
const SEPARATOR = ' ';

export function subscriptionCalls(
  vendor: Vendor,
  events: Events,
  subscription: Subscription,
): SubscriptionCalls {
  return {
    setUp: (session, wanted) => setUp(vendor, { ...events, subscription }, { session, wanted }),
    // They last until they are taken down, or are lost.
    renew: async (session, providerRef) =>
      (await areThere(vendor, subscription, { session, refs: refsIn(providerRef) }))
        ? { providerRef, expireTime: null }
        : null,
    takeDown: (session, providerRef) =>
      takeDown(vendor, subscription, { session, refs: refsIn(providerRef) }),
  };
}

function refsIn(providerRef: string): string[] {
  return providerRef.split(SEPARATOR);
}

/** If one of several is refused, those before it are taken down again. */
async function setUp(
  vendor: Vendor,
  events: Events & { subscription: Subscription },
  { session, wanted }: { session: ProviderSession; wanted: WantedSubscription },
): Promise<CreatedSubscription> {
  const { subscription } = events;
  const refs: string[] = [];
  const secrets: string[] = [];
  try {
    for (const body of await bodiesFor(vendor, events, { session, wanted })) {
      const answer = await make(vendor, subscription, { session, body });
      const ref = requiredAt(answer, subscription.ref, 'which subscription was made');
      refs.push(ref);
      secrets.push(...(await secretsIn(vendor, subscription, { session, ref, answer })));
    }
  } catch (error) {
    await takeDown(vendor, subscription, { session, refs }).catch(() => undefined);
    throw error;
  }
  const providerRef = refs.join(SEPARATOR);
  return { providerRef, expireTime: null, ...(secrets.length > 0 && { secrets }) };
}

async function make(
  vendor: Vendor,
  { method, path, refusals }: Subscription,
  { session, body }: { session: ProviderSession; body: Record<string, unknown> },
): Promise<ProviderAnswer> {
  const request = { method, path: fillPath(path, {}, session), body };
  const answer = await ask(vendor, session, request, 'WRITE');
  const refused = refusals === undefined ? [] : textsIn(valueAt(answer.body, refusals));
  if (refused.length > 0) throw new ProviderError('BAD_REQUEST', refused.join('; '));
  return answer;
}

/** Empty if the gateway made the secret. */
async function secretsIn(
  vendor: Vendor,
  { secret }: Subscription,
  { session, ref, answer }: { session: ProviderSession; ref: string; answer: ProviderAnswer },
): Promise<string[]> {
  if (!secret) return [];
  const told =
    secret.path === undefined
      ? answer
      : await ask(vendor, session, {
          method: 'GET',
          path: fillPath(secret.path, { ref }, session),
        });
  return [requiredAt(told, secret.at, 'what the subscription is signed with')];
}

/** Throws DISCONNECTED if the answer does not say it. */
export function requiredAt({ status, body }: ProviderAnswer, at: string, what: string): string {
  const found = findId(valueAt(body, at));
  if (found !== null) return found;
  throw new ProviderError('DISCONNECTED', `The answer does not say ${what}`, { status });
}

async function areThere(
  vendor: Vendor,
  { check }: Subscription,
  { session, refs }: { session: ProviderSession; refs: string[] },
): Promise<boolean> {
  if (check === undefined) return true;
  for (const ref of refs) {
    const path = fillPath(check, { ref }, session);
    if ((await unlessGone(ask(vendor, session, { method: 'GET', path }))) === null) return false;
  }
  return true;
}

/** One that is gone already is no error. */
async function takeDown(
  vendor: Vendor,
  { remove }: Subscription,
  { session, refs }: { session: ProviderSession; refs: string[] },
): Promise<void> {
  for (const ref of refs) {
    const { method, body } = remove;
    const path = fillPath(remove.path, { ref }, session);
    const request = { method, path, ...(body && { body: fillJson(body, { ref }) }) };
    await unlessGone(ask(vendor, session, request, 'WRITE'));
  }
}

/** Null if the vendor no longer has it. */
export async function unlessGone(asked: Promise<ProviderAnswer>): Promise<ProviderAnswer | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'MISSING_OBJECT') return null;
    throw error;
  }
}
