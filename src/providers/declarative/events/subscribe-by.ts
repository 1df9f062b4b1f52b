/** Events that a vendor sends, and whose account a connection is to, by its declaration. */
import { createHmac } from 'node:crypto';
import type { AccountIdentity, ProviderSession } from '../../contract.ts';
import {
  PROVIDER_EVENT_KINDS,
  type SubscribeCapability,
  type WebhookAnswer,
  type WebhookRequest,
} from '../../subscribing.ts';
import { ask } from '../ask.ts';
import type { Events, Identity } from '../declaration/events-declaration.ts';
import type { Vendor } from '../failure.ts';
import { findId, valueAt } from '../json.ts';
import { fillPath } from '../template.ts';
import { eventsOf, isChallenge } from './events-of.ts';
import { typesAbout } from './native-types.ts';
import { isProven } from './proof.ts';
import { bodyOf } from './said.ts';
import { subscriptionCalls } from './subscription-calls.ts';

export function subscribeBy(vendor: Vendor, events: Events): SubscribeCapability {
  const { account, subscription, instructions } = events;
  const told = Object.values(events.types).map(({ kind }) => kind);
  return {
    kinds: PROVIDER_EVENT_KINDS.filter((kind) => told.includes(kind)),
    kindsOf: (objectName) => typesAbout(events, objectName).map(({ kind }) => kind),
    accountOf: ({ id, providerWorkspaceRef }, fact) => {
      if (account.of !== 'event') return id;
      const value = account.fact === 'workspace' ? providerWorkspaceRef : fact(account.fact);
      return value === null ? null : account.template.replace('{account}', () => value);
    },
    requests: {
      ...(account.of === 'subscription' && { hasOwnSecrets: true as const }),
      ...(events.greeting && { greet: greetingTo(events.greeting) }),
      isSigned: (request, secrets, now) => isProven(events, request, { secrets, now }),
      eventsOf: (request, arrival) => eventsOf(vendor, events, { request, arrival }),
      answer: (request, secret) => answerTo(events, request, secret),
    },
    ...(subscription && { calls: subscriptionCalls(vendor, events, subscription) }),
    ...(instructions && {
      instructions: (url: string) =>
        instructions.map((line, n) => `${n + 1}. ${line.replace('{url}', () => url)}`).join('\n'),
    }),
  };
}

/** What a header can hold, and not more of it than a secret has. */
const GREETING = /^[\x21-\x7e]{1,256}$/;

function greetingTo({ header }: NonNullable<Events['greeting']>) {
  return ({ headers }: WebhookRequest): WebhookAnswer | null => {
    const said = headers[header.toLowerCase()];
    if (typeof said !== 'string' || !GREETING.test(said)) return null;
    return { status: 200, headers: { [header]: said } };
  };
}

function answerTo(events: Events, request: WebhookRequest, secret: string): WebhookAnswer {
  const { challenge, acceptedStatus } = events;
  const body = challenge && bodyOf(request);
  if (!challenge || !isChallenge(events, body)) return { status: acceptedStatus };
  const token = findId(valueAt(body, challenge.token)) ?? '';
  const signed = createHmac('sha256', secret).update(token).digest('hex');
  const { answer } = challenge;
  return { status: 200, body: { [answer.token]: token, [answer.signed]: signed } };
}

/** Throws ProviderError. */
export async function identifyBy(
  vendor: Vendor,
  { method, path, body, workspaceRef, consumerRef }: Identity,
  session: ProviderSession,
): Promise<AccountIdentity> {
  const request = { method, path: fillPath(path, {}, session), ...(body && { body }) };
  const answer = await ask(vendor, session, request);
  return {
    workspaceRef: findId(valueAt(answer.body, workspaceRef)),
    consumerRef: consumerRef === undefined ? null : findId(valueAt(answer.body, consumerRef)),
  };
}
