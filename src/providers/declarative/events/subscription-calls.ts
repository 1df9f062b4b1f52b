/** Subscriptions that a declaration says how to make by requests. */
import type { ProviderResponse, ProviderSession } from '../../contract.ts';
import { ProviderError } from '../../provider-error.ts';
import type {
  CreatedSubscription,
  DesiredSubscription,
  SubscriptionCalls,
} from '../../subscribing.ts';
import type { Events, Subscription } from '../declaration/events-declaration.ts';
import { findObject } from '../describe-object.ts';
import { textsIn, type Vendor } from '../failure.ts';
import { findId, valueAt, withValue } from '../json.ts';
import { readPage } from '../reading/object-page.ts';
import { sendRequest } from '../send-request.ts';
import { fillJson, fillPath, type Variables } from '../template.ts';
import { typesAbout } from './native-types.ts';
import { secretFor } from './proof.ts';
import { addressOf } from './said.ts';

/** The requests that make a subscription: a body for each of them. */

interface ToMake {
  session: ProviderSession;
  wanted: DesiredSubscription;
}

type WithSubscription = Events & { subscription: Subscription };

/** Throws BAD_REQUEST for an object of which the vendor sends no events. */
async function bodiesFor(
  vendor: Vendor,
  events: WithSubscription,
  { session, wanted }: ToMake,
): Promise<Record<string, unknown>[]> {
  const { each, body, types: place } = events.subscription;
  const types = typesOf(vendor, events, wanted);
  const variables = {
    ...ownPlace(events, wanted),
    object: events.subscription.names[wanted.objectName] ?? wanted.objectName,
    objectId: await objectId(vendor, events.subscription, { session, wanted }),
  };
  const item = itemFor(events.subscription, wanted.objectName);
  const fill = (more: Variables, of: string[]) => {
    const filled = fillJson(body, { ...variables, ...more });
    if (!place) return filled;
    return withTypes(filled, { at: place.at, item }, { types: of, variables });
  };
  if (each === 'type') return types.map((type) => fill({ type }, [type]));
  if (each === 'object') return [fill({}, types)];
  const parents = await parentsOf(vendor, session, wanted.objectName);
  if (parents.length === 0) {
    const detail = `${vendor.displayName} shows the connection nothing that has ${wanted.objectName}`;
    throw new ProviderError('BAD_REQUEST', detail);
  }
  return parents.map((parent) => fill(parent, types));
}

/** With one secret for all, a customer who learns it could sign events of another's account. */
function ownPlace({ account }: Events, { url, secret, account: ours }: DesiredSubscription) {
  return account.of === 'address'
    ? { url: addressOf(url, ours), secret: secretFor(secret, ours) }
    : { url, secret };
}

function typesOf(
  { displayName }: Vendor,
  events: Events,
  { objectName, kinds }: DesiredSubscription,
): string[] {
  const wanted = typesAbout(events, objectName).filter(({ kind }) => kinds.includes(kind));
  if (wanted.length > 0) return wanted.map(({ type }) => type);
  const detail = `${displayName} tells of no such changes of ${objectName}`;
  throw new ProviderError('BAD_REQUEST', detail);
}

/** Throws ProviderError if the vendor does not tell. Undefined if what is sent needs none. */
async function objectId(
  vendor: Vendor,
  subscription: Subscription,
  { session, wanted: { objectName } }: ToMake,
): Promise<string | undefined> {
  const { objectId: asked, body } = subscription;
  const sent = JSON.stringify([body, itemFor(subscription, objectName)]);
  if (!asked || !sent.includes('{objectId}')) return undefined;
  const path = fillPath(asked.path, { object: objectName }, session);
  const response = await sendRequest(vendor, session, { method: 'GET', path });
  const found = findId(valueAt(response.body, asked.at));
  if (found !== null) return found;
  throw new ProviderError('MISSING_OBJECT', `${vendor.displayName} has no id of ${objectName}`);
}

const PARENTS_IN_A_PAGE = 100;

/** The id of each record that the object lies below, by the name that paths have for it. */
async function parentsOf(
  vendor: Vendor,
  session: ProviderSession,
  objectName: string,
): Promise<Variables[]> {
  const { parent } = findObject(vendor, objectName);
  if (!parent) return [];
  const read = { objectName: parent.object, fields: [], pageSize: PARENTS_IN_A_PAGE };
  const found: Variables[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await readPage(vendor, session, { ...read, cursor });
    found.push(...page.records.map(({ id }) => ({ [parent.as]: id })));
    cursor = page.nextCursor;
  }
  return found;
}

/** What the list of types has for each of them. */
function itemFor({ types }: Subscription, objectName: string): unknown {
  return types?.itemOf[objectName] ?? types?.item;
}

function withTypes(
  body: Record<string, unknown>,
  { at, item }: { at: string; item: unknown },
  { types, variables }: { types: string[]; variables: Variables },
): Record<string, unknown> {
  const items = types.map((type) => {
    const [, subject = '', action = ''] = /^(.*)\.([^.]+)$/.exec(type) ?? [];
    return fillJson({ item }, { ...variables, type, subject, action }).item;
  });
  return withValue(body, at, items);
}

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
  { session, wanted }: { session: ProviderSession; wanted: DesiredSubscription },
): Promise<CreatedSubscription> {
  const { subscription } = events;
  const refs: string[] = [];
  const secrets: string[] = [];
  try {
    for (const body of await bodiesFor(vendor, events, { session, wanted })) {
      const response = await make(vendor, subscription, { session, body });
      const ref = requiredAt(response, subscription.ref, 'which subscription was made');
      refs.push(ref);
      secrets.push(...(await secretsIn(vendor, subscription, { session, ref, response })));
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
): Promise<ProviderResponse> {
  const request = { method, path: fillPath(path, {}, session), body };
  const response = await sendRequest(vendor, session, request, 'WRITE');
  const refused = refusals === undefined ? [] : textsIn(valueAt(response.body, refusals));
  if (refused.length > 0) throw new ProviderError('BAD_REQUEST', refused.join('; '));
  return response;
}

/** Empty if the gateway made the secret. */
async function secretsIn(
  vendor: Vendor,
  { secret }: Subscription,
  { session, ref, response }: { session: ProviderSession; ref: string; response: ProviderResponse },
): Promise<string[]> {
  if (!secret) return [];
  const told =
    secret.path === undefined
      ? response
      : await sendRequest(vendor, session, {
          method: 'GET',
          path: fillPath(secret.path, { ref }, session),
        });
  return [requiredAt(told, secret.at, 'what the subscription is signed with')];
}

/** Throws DISCONNECTED if the answer does not say it. */
export function requiredAt({ status, body }: ProviderResponse, at: string, what: string): string {
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
    if ((await unlessGone(sendRequest(vendor, session, { method: 'GET', path }))) === null)
      return false;
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
    await unlessGone(sendRequest(vendor, session, request, 'WRITE'));
  }
}

/** Null if the vendor no longer has it. */
export async function unlessGone(
  asked: Promise<ProviderResponse>,
): Promise<ProviderResponse | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'MISSING_OBJECT') return null;
    throw error;
  }
}
