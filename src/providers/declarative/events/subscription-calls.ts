/** Subscriptions that a declaration says how to make by requests. */
import type { ProviderAnswer, ProviderSession } from '../../contract.ts';
import { ProviderError } from '../../provider-error.ts';
import type { MadeSubscription, SubscriptionCalls, WantedSubscription } from '../../subscribing.ts';
import type { Events, Subscription } from '../declaration/events-declaration.ts';
import { failure, hasSucceeded, textsIn, type Vendor } from '../failure.ts';
import { findId, valueAt } from '../json.ts';
import { fillJson, fillPath, fillTexts, type Variables } from '../template.ts';
import { secretFor } from './proof.ts';
import { addressOf } from './said.ts';

/** Between the vendor's ids of what one subscription of ours is there. No vendor has it in an id. */
const SEPARATOR = ' ';
const GONE = [404, 410];

export function subscriptionCalls(
  vendor: Vendor,
  events: Events,
  subscription: Subscription,
): SubscriptionCalls {
  return {
    setUp: (session, wanted) => setUp(vendor, { ...events, subscription }, { session, wanted }),
    // They last until they are taken down.
    renew: async (_session, providerRef) => ({ providerRef, expireTime: null }),
    takeDown: (session, providerRef) =>
      takeDown(vendor, subscription, { session, refs: providerRef.split(SEPARATOR) }),
  };
}

type WithSubscription = Events & { subscription: Subscription };

interface ToMake {
  session: ProviderSession;
  wanted: WantedSubscription;
}

/** If one of several is refused, those before it are taken down again. */
async function setUp(
  vendor: Vendor,
  events: WithSubscription,
  { session, wanted }: ToMake,
): Promise<MadeSubscription> {
  const refs: string[] = [];
  try {
    for (const variables of variablesOf(vendor, events, wanted)) {
      refs.push(await make(vendor, events.subscription, { session, variables }));
    }
  } catch (error) {
    await takeDown(vendor, events.subscription, { session, refs }).catch(() => undefined);
    throw error;
  }
  return { providerRef: refs.join(SEPARATOR), expireTime: null };
}

/** What each request is filled with. Throws BAD_REQUEST for an object that the vendor tells nothing of. */
function variablesOf(
  { displayName }: Vendor,
  { types, account, subscription: { each, names } }: WithSubscription,
  { objectName, kinds, url, secret, account: ours }: WantedSubscription,
): Variables[] {
  const isOwn = account.of === 'address';
  const found = Object.entries(types).filter(
    ([, { object, kind }]) => object === objectName && kinds.includes(kind),
  );
  if (found.length === 0) {
    const detail = `${displayName} tells of no such changes of ${objectName}`;
    throw new ProviderError('BAD_REQUEST', detail);
  }
  const variables = {
    object: names[objectName] ?? objectName,
    url: isOwn ? addressOf(url, ours) : url,
    secret: isOwn ? secretFor(secret, ours) : secret,
  };
  return each === 'object' ? [variables] : found.map(([type]) => ({ ...variables, type }));
}

async function make(
  vendor: Vendor,
  { method, path, body, ref, refusals }: Subscription,
  { session, variables }: { session: ProviderSession; variables: Variables },
): Promise<string> {
  const answer = await send(vendor, session, {
    method,
    path: fillPath(path, {}, session),
    body: fillJson(body, variables),
  });
  const refused = refusals === undefined ? [] : textsIn(valueAt(answer.body, refusals));
  if (refused.length > 0) throw new ProviderError('BAD_REQUEST', refused.join('; '));
  const found = findId(valueAt(answer.body, ref));
  if (found !== null) return found;
  const detail = 'The answer does not say which subscription was made';
  throw new ProviderError('DISCONNECTED', detail, { status: answer.status });
}

async function takeDown(
  vendor: Vendor,
  { remove }: Subscription,
  { session, refs }: { session: ProviderSession; refs: string[] },
): Promise<void> {
  for (const ref of refs) {
    const { method, body } = remove;
    const path = fillPath(remove.path, { ref }, session);
    await send(vendor, session, { method, path, ...(body && { body: fillJson(body, { ref }) }) });
  }
}

/** One that is gone already is no error. */
async function send(
  vendor: Vendor,
  session: ProviderSession,
  request: { method: 'POST' | 'PUT' | 'DELETE'; path: string; body?: Record<string, unknown> },
): Promise<ProviderAnswer> {
  const { headers } = vendor.declaration;
  const answer = await session.send({ ...request, headers: fillTexts(headers, session) });
  const isGone = request.method === 'DELETE' && GONE.includes(answer.status);
  if (isGone || hasSucceeded(vendor, answer)) return answer;
  throw failure(vendor, answer, 'WRITE');
}
