/** The events of a vendor's request, by its declaration. */
import {
  type Arrival,
  MalformedEvents,
  type ProviderEvent,
  type WebhookRequest,
} from '../../subscribing.ts';
import type { Declaration, ObjectDeclaration } from '../declaration/declaration.ts';
import type { Events } from '../declaration/events-declaration.ts';
import type { Vendor } from '../failure.ts';
import { isObject, valueAt } from '../json.ts';
import { nestedFields } from '../nested-fields.ts';
import { readTime } from '../times.ts';
import { accountIn, allSaidAt, bodyOf, type Sent, saidAt } from './said.ts';

type Arrived = Sent & { arrival: Arrival };

/** More than any vendor sends at once. */
const EVENTS_MAX = 10_000;

/** Types that the declaration does not name are left out. Throws MalformedEvents. */
export function eventsOf(
  { displayName, declaration }: Vendor,
  events: Events,
  { request, arrival }: { request: WebhookRequest; arrival: Arrival },
): ProviderEvent[] {
  const body = bodyOf(request);
  const listed = events.list === undefined ? [body] : valueAt(body, events.list);
  if (!isObject(body) || !Array.isArray(listed) || listed.length > EVENTS_MAX) {
    throw new MalformedEvents(`The body is not what ${displayName} sends.`);
  }
  if (isChallenge(events, body)) return [];
  return listed.flatMap((event) => {
    const found = eventOf(declaration, events, { request, arrival, body, event });
    if (found === null) throw new MalformedEvents(`An event is not what ${displayName} sends.`);
    return found;
  });
}

export function isChallenge({ challenge }: Events, body: unknown): boolean {
  return challenge !== undefined && valueAt(body, challenge.at) === challenge.value;
}

/** Empty for an event that is left out; null if the value is not an event. */
function eventOf(
  { objects, anyObject }: Declaration,
  events: Events,
  sent: Arrived,
): ProviderEvent | [] | null {
  const type = allSaidAt(events.type, sent)?.join('.');
  if (type === undefined) return null;
  const meaning = Object.hasOwn(events.types, type) ? events.types[type] : undefined;
  if (!meaning || isSkipped(events, sent)) return [];
  const { nativeId, recordId } = events;
  const ids = allSaidAt(nativeId, sent);
  const record = allSaidAt(recordId.parts, sent);
  const at = timeOf(events, sent);
  const account = accountOf(events, sent);
  const objectName = meaning.object ?? sent.arrival.subscription?.objectName ?? null;
  if (!ids || !record || !at || account === null || objectName === null) return null;
  const template = recordId.templates[objectName] ?? '{id}';
  const id = template.replace('{id}', () => record.join(recordId.separator));
  return {
    nativeId: [type, ...ids].join('.'),
    account,
    objectName,
    recordId: id,
    kind: meaning.kind,
    nativeType: type,
    time: at,
    changedFields: meaning.kind === 'UPDATE' ? changedIn(events, sent.event) : [],
    record:
      meaning.kind === 'DELETE'
        ? null
        : recordIn(events, sent.event, { id, object: objects[objectName] ?? anyObject }),
    association: null,
    raw: isObject(sent.event) ? sent.event : { event: sent.event },
  };
}

function isSkipped({ skip }: Events, { event }: Sent): boolean {
  return skip !== undefined && valueAt(event, skip) != null;
}

function timeOf({ time }: Events, sent: Arrived): Date | null {
  return time ? readTime(saidAt(time.at, sent), time.format) : sent.arrival.now;
}

function accountOf({ account }: Events, sent: Arrived): string | null {
  if (account.of === 'subscription') return sent.arrival.subscription?.account ?? null;
  return account.of === 'address' ? accountIn(sent.request) : saidAt(account.at, sent);
}

function changedIn({ changed }: Events, event: unknown): string[] {
  const found = changed === undefined ? undefined : valueAt(event, changed);
  if (typeof found === 'string') return [found];
  if (Array.isArray(found)) return found.filter((one) => typeof one === 'string');
  return isObject(found) ? Object.keys(found) : [];
}

function recordIn(
  { record }: Events,
  event: unknown,
  { id, object }: { id: string; object: ObjectDeclaration | undefined },
): ProviderEvent['record'] {
  const raw = record === undefined ? undefined : valueAt(event, record);
  if (!isObject(raw) || !object) return null;
  const nested = object.nested.map((one) => nestedFields(one, raw));
  return { id, fields: Object.assign({}, ...nested.toReversed(), raw, { id }), raw };
}
