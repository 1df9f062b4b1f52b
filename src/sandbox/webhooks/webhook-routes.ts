import { z } from 'zod';
import { OBJECT_NAMES } from '../records/objects.ts';
import { RECORD_EVENTS } from '../records/table.ts';
import { parseInput, parseJsonBody, type SandboxRequest } from '../request.ts';
import type { SandboxRoute } from '../router.ts';
import type { WebhookSubscription, Webhooks } from './webhook-subscriptions.ts';

const subscriptionSchema = z.strictObject({
  objectName: z.enum(OBJECT_NAMES),
  events: z.array(z.enum(RECORD_EVENTS)).min(1),
  url: z.url({ protocol: /^https?$/ }).max(2_048),
  secret: z.string().min(1).max(1_024),
  account: z.string().max(256).default(''),
});

interface WebhookServices {
  webhooks: Webhooks;
  /** Throws if the caller is refused. */
  admit: (request: SandboxRequest) => void;
}

export function createWebhookRoutes({ webhooks, admit }: WebhookServices): SandboxRoute[] {
  const route = (
    method: string,
    pattern: string,
    handle: SandboxRoute['handle'],
  ): SandboxRoute => ({
    method,
    pattern,
    handle: (request) => {
      admit(request);
      return handle(request);
    },
  });
  return [
    route('GET', '/webhook-subscriptions', () => ({
      status: 200,
      json: { subscriptions: webhooks.list().map(toSubscriptionView) },
    })),
    route('POST', '/webhook-subscriptions', (request) => ({
      status: 201,
      json: toSubscriptionView(
        webhooks.create(parseInput(subscriptionSchema, parseJsonBody(request))),
      ),
    })),
    route('POST', '/webhook-subscriptions/:id/renew', ({ params }) => ({
      status: 200,
      json: toSubscriptionView(webhooks.renew(params.id!)),
    })),
    route('DELETE', '/webhook-subscriptions/:id', ({ params }) => {
      webhooks.delete(params.id!);
      return { status: 204 };
    }),
  ];
}

/** Shows a subscription without its secret. */
function toSubscriptionView({
  id,
  objectName,
  events,
  url,
  account,
  expiresAtMs,
}: WebhookSubscription) {
  return { id, objectName, events, url, account, expiresAt: new Date(expiresAtMs).toISOString() };
}
