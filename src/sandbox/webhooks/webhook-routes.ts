import { z } from 'zod';
import { OBJECT_NAMES } from '../records/objects.ts';
import { RECORD_EVENTS } from '../records/table.ts';
import { parseInput, parseJsonBody } from '../request.ts';
import type { SandboxRoute } from '../router.ts';
import type { WebhookSubscription, Webhooks } from './webhook-subscriptions.ts';

const subscriptionSchema = z.strictObject({
  objectName: z.enum(OBJECT_NAMES),
  events: z.array(z.enum(RECORD_EVENTS)).min(1),
  url: z.url({ protocol: /^https?$/ }).max(2_048),
  secret: z.string().min(1).max(1_024),
  account: z.string().max(256).default(''),
});

export function createWebhookRoutes(webhooks: Webhooks): SandboxRoute[] {
  return [
    {
      method: 'GET',
      pattern: '/webhook-subscriptions',
      handle: () => ({
        status: 200,
        json: { subscriptions: webhooks.list().map(toSubscriptionView) },
      }),
    },
    {
      method: 'POST',
      pattern: '/webhook-subscriptions',
      handle(request) {
        const input = parseInput(subscriptionSchema, parseJsonBody(request));
        return { status: 201, json: toSubscriptionView(webhooks.create(input)) };
      },
    },
    {
      method: 'POST',
      pattern: '/webhook-subscriptions/:id/renew',
      handle: ({ params }) => ({
        status: 200,
        json: toSubscriptionView(webhooks.renew(params.id!)),
      }),
    },
    {
      method: 'DELETE',
      pattern: '/webhook-subscriptions/:id',
      handle({ params }) {
        webhooks.delete(params.id!);
        return { status: 204 };
      },
    },
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
