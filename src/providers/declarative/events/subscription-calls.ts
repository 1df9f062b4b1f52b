/** Creates, renews and deletes subscriptions by the requests of a declaration. */
import type { ProviderResponse, ProviderSession } from '../../contract.ts';
import { ProviderError } from '../../provider-error.ts';
import type {
  CreatedSubscription,
  DesiredSubscription,
  SubscriptionCalls,
} from '../../subscribing.ts';
import type {
  EventsDeclaration,
  SubscriptionDeclaration,
} from '../declaration/events-declaration.ts';
import { collectMessages, toMessages } from '../failure.ts';
import { findValue, parseId, readOwn, withValue } from '../json.ts';
import { readPage } from '../reading/object-page.ts';
import { ignoreMissing, requireValueAt, sendRequest } from '../send-request.ts';
import { fillJson, fillPath, type TemplateVariables } from '../template.ts';
import { getObject, type Vendor } from '../vendor.ts';
import { createAccountUrl, listNativeTypes } from './event-values.ts';
import { deriveSecret } from './webhook-authentication.ts';

interface SubscriptionRequest {
  session: ProviderSession;
  desired: DesiredSubscription;
}

type SubscribableEvents = EventsDeclaration & { subscription: SubscriptionDeclaration };

/** Separates the vendor's ids of one subscription. No vendor has a space in an id. */
const REF_SEPARATOR = ' ';

export function createSubscriptionCalls(
  vendor: Vendor,
  events: EventsDeclaration,
  subscription: SubscriptionDeclaration,
): SubscriptionCalls {
  return {
    create: (session, desired) =>
      createSubscriptions(vendor, { ...events, subscription }, { session, desired }),
    // A subscription lasts until it is deleted.
    renew: async (session, providerRef) =>
      (await allExist(vendor, subscription, { session, refs: splitRefs(providerRef) }))
        ? { providerRef, expireTime: null }
        : null,
    delete: (session, providerRef) =>
      deleteSubscriptions(vendor, subscription, { session, refs: splitRefs(providerRef) }),
  };
}

/** Creates the subscriptions. If one is refused, deletes those that were created before it. */
async function createSubscriptions(
  vendor: Vendor,
  events: SubscribableEvents,
  { session, desired }: SubscriptionRequest,
): Promise<CreatedSubscription> {
  const { subscription } = events;
  const refs: string[] = [];
  const secrets: string[] = [];
  try {
    for (const body of await createBodies(vendor, events, { session, desired })) {
      const response = await createSubscription(vendor, subscription, { session, body });
      const ref = requireValueAt(response, subscription.id, 'the id of the subscription');
      refs.push(ref);
      secrets.push(...(await readSecrets(vendor, subscription, { session, ref, response })));
    }
  } catch (error) {
    await deleteSubscriptions(vendor, subscription, { session, refs }).catch(() => undefined);
    throw error;
  }
  const providerRef = refs.join(REF_SEPARATOR);
  return { providerRef, expireTime: null, ...(secrets.length > 0 && { secrets }) };
}

/**
 * Returns the bodies of the requests that create a subscription. Throws BAD_REQUEST if the vendor sends no events of
 * the object.
 */
async function createBodies(
  vendor: Vendor,
  events: SubscribableEvents,
  { session, desired }: SubscriptionRequest,
): Promise<Record<string, unknown>[]> {
  const { covers, body, types: typeList } = events.subscription;
  const types = listTypes(vendor, events, desired);
  const variables = {
    ...createTarget(events, desired),
    object: readOwn(events.subscription.objectNames, desired.objectName) ?? desired.objectName,
    objectId: await findObjectId(vendor, events.subscription, { session, desired }),
  };
  const item = getItemTemplate(events.subscription, desired.objectName);
  const createBody = (bodyVariables: TemplateVariables, bodyTypes: string[]) => {
    const filledBody = fillJson(body, { ...variables, ...bodyVariables });
    if (!typeList) return filledBody;
    return setTypes(filledBody, { at: typeList.at, item }, { types: bodyTypes, variables });
  };
  if (covers === 'type') return types.map((type) => createBody({ type }, [type]));
  if (covers === 'object') return [createBody({}, types)];
  const parents = await listParents(vendor, session, desired.objectName);
  if (parents.length === 0) {
    const detail = `${vendor.displayName} grants the connection no access to a parent of ${desired.objectName}`;
    throw new ProviderError('BAD_REQUEST', detail);
  }
  return parents.map((parent) => createBody(parent, types));
}

/**
 * Returns the URL and secret of a subscription. If the URL names the account, the secret is derived for it: otherwise a
 * customer could sign events of other accounts.
 */
function createTarget(
  { account }: EventsDeclaration,
  { url, secret, account: accountRef }: DesiredSubscription,
) {
  return account.source === 'url'
    ? { url: createAccountUrl(url, accountRef), secret: deriveSecret(secret, accountRef) }
    : { url, secret };
}

function listTypes(
  { displayName }: Vendor,
  events: EventsDeclaration,
  { objectName, kinds }: DesiredSubscription,
): string[] {
  const types = listNativeTypes(events, objectName).filter(({ kind }) => kinds.includes(kind));
  if (types.length > 0) return types.map(({ type }) => type);
  const detail = `${displayName} sends no events of these kinds for ${objectName}`;
  throw new ProviderError('BAD_REQUEST', detail);
}

/**
 * Returns the vendor's id of the object. Undefined if the body has no `{objectId}`. Throws ProviderError if the vendor
 * returns no id.
 */
async function findObjectId(
  vendor: Vendor,
  subscription: SubscriptionDeclaration,
  { session, desired: { objectName } }: SubscriptionRequest,
): Promise<string | undefined> {
  const { objectId: idRequest, body } = subscription;
  const templates = JSON.stringify([body, getItemTemplate(subscription, objectName)]);
  if (!idRequest || !templates.includes('{objectId}')) return undefined;
  const path = fillPath(idRequest.path, { object: objectName }, session);
  const response = await sendRequest(vendor, session, { method: 'GET', path });
  const id = parseId(findValue(response.body, idRequest.at));
  if (id !== null) return id;
  throw new ProviderError('MISSING_OBJECT', `${vendor.displayName} has no id of ${objectName}`);
}

const PARENT_PAGE_SIZE = 100;
/** Each parent needs a subscription of its own. */
const PARENTS_MAX = 10_000;

/** Returns the variable that paths use for the parent, for each parent record. */
async function listParents(
  vendor: Vendor,
  session: ProviderSession,
  objectName: string,
): Promise<TemplateVariables[]> {
  const { parent } = getObject(vendor, objectName);
  if (!parent) return [];
  const read = { objectName: parent.object, fields: [], pageSize: PARENT_PAGE_SIZE };
  const parents: TemplateVariables[] = [];
  let cursor: string | undefined;
  do {
    const page = await readPage(vendor, session, { ...read, cursor });
    parents.push(...page.records.map(({ id }) => ({ [parent.variable]: id })));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && parents.length <= PARENTS_MAX);
  if (parents.length <= PARENTS_MAX) return parents;
  const detail = `${objectName} have more than ${PARENTS_MAX} parents, which are too many to subscribe to`;
  throw new ProviderError('BAD_REQUEST', detail);
}

/** Returns the template of an item in the list of event types. */
function getItemTemplate({ types }: SubscriptionDeclaration, objectName: string): unknown {
  return types && (readOwn(types.itemByObject, objectName) ?? types.item);
}

function setTypes(
  body: Record<string, unknown>,
  { at, item }: { at: string; item: unknown },
  { types, variables }: { types: string[]; variables: TemplateVariables },
): Record<string, unknown> {
  const items = types.map((type) => {
    const [, subject = '', action = ''] = /^(.*)\.([^.]+)$/.exec(type) ?? [];
    return fillJson({ item }, { ...variables, type, subject, action }).item;
  });
  return withValue(body, at, items);
}

async function createSubscription(
  vendor: Vendor,
  { method, path, refusalReasons }: SubscriptionDeclaration,
  { session, body }: { session: ProviderSession; body: Record<string, unknown> },
): Promise<ProviderResponse> {
  const request = { method, path: fillPath(path, {}, session), body };
  const response = await sendRequest(vendor, session, request);
  const messages =
    refusalReasons === undefined ? [] : collectMessages(findValue(response.body, refusalReasons));
  if (messages.length > 0) {
    throw new ProviderError('BAD_REQUEST', toMessages(messages, response).join('; '));
  }
  return response;
}

/** Returns the secrets that the vendor created. Empty if the gateway created the secret. */
async function readSecrets(
  vendor: Vendor,
  { secret }: SubscriptionDeclaration,
  { session, ref, response }: { session: ProviderSession; ref: string; response: ProviderResponse },
): Promise<string[]> {
  if (!secret) return [];
  const secretResponse =
    secret.path === undefined
      ? response
      : await sendRequest(vendor, session, {
          method: 'GET',
          path: fillPath(secret.path, { subscriptionId: ref }, session),
        });
  return [requireValueAt(secretResponse, secret.at, 'the secret of the subscription')];
}

function splitRefs(providerRef: string): string[] {
  return providerRef.split(REF_SEPARATOR);
}

async function allExist(
  vendor: Vendor,
  { checkPath }: SubscriptionDeclaration,
  { session, refs }: { session: ProviderSession; refs: string[] },
): Promise<boolean> {
  if (checkPath === undefined) return true;
  for (const ref of refs) {
    const path = fillPath(checkPath, { subscriptionId: ref }, session);
    if ((await ignoreMissing(sendRequest(vendor, session, { method: 'GET', path }))) === null)
      return false;
  }
  return true;
}

/** Deletes the subscriptions. A subscription that no longer exists is not an error. */
async function deleteSubscriptions(
  vendor: Vendor,
  { remove }: SubscriptionDeclaration,
  { session, refs }: { session: ProviderSession; refs: string[] },
): Promise<void> {
  for (const ref of refs) {
    const { method, body } = remove;
    const path = fillPath(remove.path, { subscriptionId: ref }, session);
    const request = {
      method,
      path,
      ...(body && { body: fillJson(body, { subscriptionId: ref }) }),
    };
    await ignoreMissing(sendRequest(vendor, session, request));
  }
}
