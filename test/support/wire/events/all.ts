/** Events that vendors send, by the provider's name, written from their documentation of webhooks. */
import { BadRequest } from '../paging.ts';
import { isObject, toSeconds } from '../wire-format.ts';
import { asana, attio, close, zendesk } from './secret-issuing-vendors.ts';
import { readTexts } from './vendor-webhooks.ts';
import { hmac, type WireEvents } from './wire-events.ts';

const VERB_BY_KIND = { CREATE: 'created', UPDATE: 'updated', DELETE: 'deleted' } as const;

const stripe: WireEvents = {
  objectName: 'customers',
  recordId: 'cus_1',
  connection: { providerWorkspaceRef: 'acct_1' },
  hasSignedTime: true,
  recordText: 'Ada',
  changedFields: ['name'],
  send({ kind, sequence, sentAt, secret }) {
    const body = JSON.stringify({
      id: `evt_${sequence}`,
      object: 'event',
      account: 'acct_1',
      created: toSeconds(sentAt),
      type: `customer.${VERB_BY_KIND[kind]}`,
      data: {
        object: { id: 'cus_1', object: 'customer', name: 'Ada' },
        ...(kind === 'UPDATE' && { previous_attributes: { name: 'Eve' } }),
      },
    });
    return { body, headers: this.sign(body, { secret, sentAt }) };
  },
  sign(body, { secret, sentAt }) {
    const t = toSeconds(sentAt);
    const validSignature = hmac('sha256', secret, `${t}.${body}`);
    // While a secret is rotated, there are two v1 signatures. v0 is a scheme for test mode.
    const signature = `t=${t},v1=${'0'.repeat(64)},v1=${validSignature},v0=${'1'.repeat(64)}`;
    return { 'stripe-signature': signature };
  },
};

const INTERCOM_ACTIONS = {
  CREATE: 'user.created',
  UPDATE: 'user.updated',
  DELETE: 'deleted',
} as const;

const intercom: WireEvents = {
  objectName: 'contacts',
  recordId: '6762f0ab',
  connection: { providerWorkspaceRef: 'a1b2c3' },
  send({ kind, sequence, sentAt, secret }) {
    const body = JSON.stringify({
      type: 'notification_event',
      app_id: 'a1b2c3',
      id: `notif_${sequence}`,
      topic: `contact.${INTERCOM_ACTIONS[kind]}`,
      created_at: toSeconds(sentAt),
      delivery_attempts: 1,
      data: { type: 'notification_event_data', item: { type: 'contact', id: '6762f0ab' } },
    });
    return { body, headers: this.sign(body, { secret, sentAt }) };
  },
  sign: (body, { secret }) => ({ 'x-hub-signature': `sha1=${hmac('sha1', secret, body)}` }),
};

const xero: WireEvents = {
  objectName: 'Contacts',
  recordId: '717f2bfc-c6d4-41fd-b238-3f2f0c0cf777',
  connection: { providerWorkspaceRef: null, metadata: { tenantId: 'c2cc9b6e' } },
  missingKinds: ['DELETE'],
  send({ kind, sequence, sentAt, secret }) {
    const body = JSON.stringify({
      events: [
        {
          resourceUrl: 'https://api.xero.com/api.xro/2.0/Contacts/717f2bfc',
          resourceId: '717f2bfc-c6d4-41fd-b238-3f2f0c0cf777',
          tenantId: 'c2cc9b6e',
          tenantType: 'ORGANISATION',
          eventCategory: 'CONTACT',
          eventType: kind,
          eventDateUtc: sentAt.toISOString().replace('Z', ''),
        },
      ],
      firstEventSequence: sequence,
      lastEventSequence: sequence,
      entropy: 'S0m3r4nd0m',
    });
    return { body, headers: this.sign(body, { secret, sentAt }) };
  },
  sign: (body, { secret }) => ({ 'x-xero-signature': hmac('sha256', secret, body, 'base64') }),
};

const GITHUB_ACTIONS = { CREATE: 'opened', UPDATE: 'edited', DELETE: 'deleted' } as const;

const github: WireEvents = {
  objectName: 'issues',
  recordId: 'octo/app#7',
  connection: { providerWorkspaceRef: 'octo' },
  recordText: 'A bug',
  changedFields: ['title'],
  send({ kind, sequence, sentAt, secret }) {
    const body = JSON.stringify({
      action: GITHUB_ACTIONS[kind],
      issue: {
        id: 9_000_000_007,
        number: 7,
        title: 'A bug',
        repository_url: 'https://api.github.com/repos/octo/app',
        updated_at: `${sentAt.toISOString().slice(0, 19)}Z`,
      },
      ...(kind === 'UPDATE' && { changes: { title: { from: 'A bugg' } } }),
      repository: { full_name: 'octo/app', owner: { login: 'octo' } },
      sender: { login: 'ada' },
    });
    return {
      body,
      headers: {
        'x-github-event': 'issues',
        'x-github-delivery': `72d3162e-${sequence}`,
        ...this.sign(body, { secret, sentAt }),
      },
    };
  },
  sign: (body, { secret }) => ({
    'x-hub-signature-256': `sha256=${hmac('sha256', secret, body)}`,
  }),
};

const zoom: WireEvents = {
  objectName: 'meetings',
  recordId: '85746065123',
  connection: { providerWorkspaceRef: 'acc_1' },
  hasSignedTime: true,
  send({ kind, sequence, sentAt, secret }) {
    const body = JSON.stringify({
      event: `meeting.${VERB_BY_KIND[kind]}`,
      event_ts: sentAt.getTime() + sequence,
      payload: {
        account_id: 'acc_1',
        operator: 'ada@example.com',
        object: { uuid: 'u==', id: 85_746_065_123, topic: 'Weekly' },
      },
    });
    return { body, headers: this.sign(body, { secret, sentAt }) };
  },
  sign(body, { secret, sentAt }) {
    const timestamp = toSeconds(sentAt);
    const signature = hmac('sha256', secret, `v0:${timestamp}:${body}`);
    return { 'x-zm-request-timestamp': String(timestamp), 'x-zm-signature': `v0=${signature}` };
  },
};

const LINEAR_ACTIONS = { CREATE: 'create', UPDATE: 'update', DELETE: 'remove' } as const;

const linear: WireEvents = {
  objectName: 'issues',
  recordId: '2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9',
  connection: { providerWorkspaceRef: 'org_1' },
  hasSignedTime: true,
  changedFields: ['title'],
  send({ kind, sequence, sentAt, secret }) {
    const body = JSON.stringify({
      action: LINEAR_ACTIONS[kind],
      type: 'Issue',
      createdAt: new Date(sentAt.getTime() + sequence).toISOString(),
      organizationId: 'org_1',
      data: { id: '2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9', title: 'A bug' },
      ...(kind === 'UPDATE' && { updatedFrom: { title: 'A bugg' } }),
      webhookTimestamp: sentAt.getTime(),
      webhookId: '000042e3',
    });
    return { body, headers: this.sign(body, { secret, sentAt }) };
  },
  sign: (body, { secret }) => ({ 'linear-signature': hmac('sha256', secret, body) }),
};

const SHOPIFY_ACTIONS = { CREATE: 'create', UPDATE: 'update', DELETE: 'delete' } as const;

const shopify: WireEvents = {
  objectName: 'customers',
  recordId: 'gid://shopify/Customer/706405506930370084',
  connection: { providerWorkspaceRef: 'ada-shop' },
  send({ kind, sequence, sentAt, secret }) {
    // The ID is beyond the integers that a JavaScript number represents exactly. A deletion contains only the
    // ID.
    const otherMembers = kind === 'DELETE' ? '' : ',"email":"ada@example.com"';
    const body = `{"id":706405506930370084${otherMembers}}`;
    return {
      body,
      headers: {
        'x-shopify-topic': `customers/${SHOPIFY_ACTIONS[kind]}`,
        'x-shopify-shop-domain': 'ada-shop.myshopify.com',
        'x-shopify-webhook-id': `b54557e4-${sequence}`,
        'x-shopify-triggered-at': sentAt.toISOString(),
        ...this.sign(body, { secret, sentAt }),
      },
    };
  },
  sign: (body, { secret }) => ({
    'x-shopify-hmac-sha256': hmac('sha256', secret, body, 'base64'),
  }),
};

const PIPEDRIVE_ACTIONS = { CREATE: 'create', UPDATE: 'change', DELETE: 'delete' } as const;

/** Only the credentials of the subscription authenticate these requests. There is no signature. */
const pipedrive: WireEvents = {
  objectName: 'deals',
  recordId: '746',
  changedFields: ['status'],
  webhooks: {
    path: '/v1/webhooks',
    status: 201,
    parse(body) {
      const { subscription_url, http_auth_user, http_auth_password } = readTexts(
        body,
        'subscription_url',
        'event_action',
        'event_object',
        'http_auth_user',
        'http_auth_password',
      );
      if (http_auth_user !== 'pipedrive') throw new BadRequest('another user than it sends as');
      return { url: subscription_url, secret: http_auth_password };
    },
    toBody: ({ id }) => ({ status: 'ok', success: true, data: { id: Number(id) } }),
  },
  send({ kind, sequence, sentAt, secret }) {
    const body = JSON.stringify({
      meta: {
        action: PIPEDRIVE_ACTIONS[kind],
        entity: 'deal',
        entity_id: '746',
        company_id: '123',
        id: `2f1c3f3c-${sequence}`,
        timestamp: sentAt.toISOString(),
        version: '2.0',
        attempt: 1,
      },
      data: kind === 'DELETE' ? null : { id: 746, title: 'A deal', status: 'won' },
      previous: kind === 'UPDATE' ? { status: 'open' } : null,
    });
    return { body, headers: this.sign(body, { secret, sentAt }) };
  },
  sign: (_body, { secret }) => ({
    authorization: `Basic ${Buffer.from(`pipedrive:${secret}`).toString('base64')}`,
  }),
};

const OUTREACH_ACTIONS = { CREATE: 'created', UPDATE: 'updated', DELETE: 'destroyed' } as const;

const outreach: WireEvents = {
  objectName: 'prospects',
  recordId: '42',
  changedFields: ['title'],
  webhooks: {
    path: '/api/v2/webhooks',
    status: 201,
    parse(body) {
      const { type, attributes } = isObject(body.data) ? body.data : {};
      if (type !== 'webhook') throw new BadRequest('type must be webhook');
      return readTexts(attributes, 'url', 'secret', 'action', 'resource');
    },
    toBody: ({ id, url }) => ({ data: { type: 'webhook', id: Number(id), attributes: { url } } }),
  },
  send({ kind, sequence, sentAt, secret }) {
    const body = JSON.stringify({
      data: { type: 'prospect', id: 42, attributes: { title: 'CTO' }, relationships: {} },
      meta: {
        eventName: `prospect.${OUTREACH_ACTIONS[kind]}`,
        deliveredAt: new Date(sentAt.getTime() + sequence).toISOString(),
      },
    });
    return { body, headers: this.sign(body, { secret, sentAt }) };
  },
  sign: (body, { secret }) => ({ 'outreach-webhook-signature': hmac('sha256', secret, body) }),
};

export const WIRE_EVENTS: Record<string, WireEvents> = {
  asana,
  attio,
  close,
  github,
  intercom,
  linear,
  outreach,
  pipedrive,
  shopify,
  stripe,
  xero,
  zendeskSupport: zendesk,
  zoom,
};
