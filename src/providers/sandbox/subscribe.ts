/** Subscribes to the sandbox's webhooks by requests, one for each object of a connection. */
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { isSameSecret } from '../../kernel/secrets.ts';
import { parseBounded, requireParsed } from '../../work/bounded-parse.ts';
import { MINUTE_MS } from '../../work/durations.ts';
import type { ProviderResponse, ProviderSession } from '../contract.ts';
import { parseResponse } from '../read-responses.ts';
import {
  type CreatedSubscription,
  type DesiredSubscription,
  MalformedEventsError,
  type ProviderEvent,
  type ProviderEventKind,
  type SubscribeCapability,
  type SubscriptionCalls,
  type WebhookRequest,
} from '../subscribing.ts';
import { requireSuccess, subscriptionSchema } from './wire.ts';

const PATH = '/webhook-subscriptions';
const TOLERANCE_MS = 5 * MINUTE_MS;
const NOT_FOUND = 404;

const KINDS = new Map<string, ProviderEventKind>([
  ['created', 'CREATE'],
  ['updated', 'UPDATE'],
  ['deleted', 'DELETE'],
  ['associated', 'ASSOCIATION_UPDATE'],
]);

const calls: SubscriptionCalls = {
  expires: true,

  async create(session, desired) {
    const { objectName, url, secret, account } = desired;
    const body = { objectName, url, secret, account, events: listTypes(desired) };
    return parseSubscription(
      requireSuccess(await session.send({ method: 'POST', path: PATH, body })),
    );
  },

  async renew(session, providerRef) {
    const path = `${PATH}/${encodeURIComponent(providerRef)}/renew`;
    const response = await session.send({ method: 'POST', path });
    return response.status === NOT_FOUND ? null : parseSubscription(requireSuccess(response));
  },

  async delete(session: ProviderSession, providerRef: string) {
    const path = `${PATH}/${encodeURIComponent(providerRef)}`;
    const response = await session.send({ method: 'DELETE', path });
    if (response.status !== NOT_FOUND) requireSuccess(response);
  },
};

export const subscribe: SubscribeCapability = {
  kinds: ['CREATE', 'UPDATE', 'DELETE', 'ASSOCIATION_UPDATE', 'OTHER'],
  // All callers share one workspace, so events name the account by the name that the subscription gave it.
  findAccount: ({ id }) => id,
  requests: { isSigned, parseEvents },
  calls,
};

/** Returns the event types of the subscription. Native names such as `contacts.merged` are passed on. */
function listTypes({ objectName, kinds, otherEvents }: DesiredSubscription): string[] {
  const types = [...KINDS].flatMap(([type, kind]) => (kinds.includes(kind) ? type : []));
  const otherNames = otherEvents.map((name) => name.replace(`${objectName}.`, ''));
  return [...new Set([...types, ...otherNames])];
}

function isSigned(
  { headers, body }: WebhookRequest,
  secrets: readonly string[],
  now: Date,
): boolean {
  const [, seconds = '', hexDigest = ''] =
    /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(String(headers['x-sandbox-signature'])) ?? [];
  if (!(Math.abs(now.getTime() - Number(seconds) * 1_000) <= TOLERANCE_MS)) return false;
  return secrets.some((secret) => {
    const expectedDigest = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest();
    return isSameSecret(Buffer.from(hexDigest, 'hex'), expectedDigest);
  });
}

/** Members of an event of any type. */
const typedEvent = z.looseObject({ type: z.string().max(128) });
const eventSchema = typedEvent.extend({
  id: z.string().min(1).max(128),
  account: z.string().max(256),
  objectName: z.string().max(128),
  recordId: z.string().max(128),
  occurredAt: z.iso.datetime(),
  changedFields: z.array(z.string()).optional(),
  record: z.record(z.string(), z.unknown()).optional(),
  association: z.object({ objectName: z.string(), recordId: z.string() }).optional(),
});
const bodySchema = z.object({ events: z.array(typedEvent).max(1_000) });

function parseEvents({ body }: WebhookRequest): ProviderEvent[] {
  return parseBody(body).map((raw) => {
    const { type, objectName, recordId, association } = raw;
    return {
      nativeId: raw.id,
      account: raw.account,
      objectName,
      recordId,
      kind: findKind(raw) ?? 'OTHER',
      nativeType: type,
      time: new Date(raw.occurredAt),
      changedFields: raw.changedFields ?? [],
      record: raw.record ? { id: recordId, fields: raw.record, raw: raw.record } : null,
      association: association
        ? {
            from: { id: recordId, objectName },
            to: { id: association.recordId, objectName: association.objectName },
          }
        : null,
      raw,
    };
  });
}

/** Finds the kind of a type such as `created` or `contacts.created`. */
function findKind({ type }: z.output<typeof typedEvent>): ProviderEventKind | undefined {
  return KINDS.get(type.replace(/^.*\./, ''));
}

/** Parses the events. Omits events of unknown types that have another form. */
function parseBody(body: Buffer): z.output<typeof eventSchema>[] {
  try {
    return requireParsed(bodySchema, JSON.parse(body.toString('utf8'))).events.flatMap(
      (anyEvent) => {
        const { data: event, error } = parseBounded(eventSchema, anyEvent);
        if (event) return event;
        if (findKind(anyEvent)) throw error;
        return [];
      },
    );
  } catch (cause) {
    const message = 'The body does not have the documented format of sandbox events.';
    throw new MalformedEventsError(message, { cause });
  }
}

function parseSubscription(response: ProviderResponse): CreatedSubscription {
  const { id, expiresAt } = parseResponse(subscriptionSchema, response, 'WRITE');
  return { providerRef: id, expireTime: new Date(expiresAt) };
}
