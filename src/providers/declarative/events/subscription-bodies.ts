/** The requests that make a subscription: a body for each of them. */
import type { ProviderSession } from '../../contract.ts';
import { ProviderError } from '../../provider-error.ts';
import type { WantedSubscription } from '../../subscribing.ts';
import { ask } from '../ask.ts';
import type { Events, Subscription } from '../declaration/events-declaration.ts';
import type { Vendor } from '../failure.ts';
import { findObject } from '../find-object.ts';
import { findId, valueAt, withValue } from '../json.ts';
import { readPage } from '../reading/object-page.ts';
import { fillJson, fillPath, type Variables } from '../template.ts';
import { typesAbout } from './native-types.ts';
import { secretFor } from './proof.ts';
import { addressOf } from './said.ts';

interface ToMake {
  session: ProviderSession;
  wanted: WantedSubscription;
}

type WithSubscription = Events & { subscription: Subscription };

/** Throws BAD_REQUEST for an object of which the vendor sends no events. */
export async function bodiesFor(
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
function ownPlace({ account }: Events, { url, secret, account: ours }: WantedSubscription) {
  return account.of === 'address'
    ? { url: addressOf(url, ours), secret: secretFor(secret, ours) }
    : { url, secret };
}

function typesOf(
  { displayName }: Vendor,
  events: Events,
  { objectName, kinds }: WantedSubscription,
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
  const answer = await ask(vendor, session, { method: 'GET', path });
  const found = findId(valueAt(answer.body, asked.at));
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
