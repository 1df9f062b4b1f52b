/**
 * Vendors that generate the secret when a webhook is created, written from their documentation of webhooks.
 */
import { randomBytes } from 'node:crypto';
import { BadRequest } from '../paging.ts';
import { isObject, toSeconds, type Values } from '../wire-format.ts';
import { readTexts, type WireWebhooks } from './vendor-webhooks.ts';
import { hmac, type WireEvents } from './wire-events.ts';

const createHexSecret = () => randomBytes(32).toString('hex');

/** Returns a non-empty list of objects with exactly these members. Throws BadRequest otherwise. */
function readList(body: unknown, name: string, ...members: string[]): Values[] {
  const list = isObject(body) ? body[name] : undefined;
  const isValidItem = (item: unknown) =>
    isObject(item) && Object.keys(item).toSorted().join() === members.toSorted().join();
  if (Array.isArray(list) && list.length > 0 && list.every(isValidItem)) return list;
  throw new BadRequest(`${name} must be a list of ${members.join(' and ')}`);
}

const CLOSE_ACTIONS = { CREATE: 'created', UPDATE: 'updated', DELETE: 'deleted' } as const;

export const close: WireEvents = {
  objectName: 'lead',
  recordId: 'lead_qeQ4uAVvzRkX5WqSx4DvNaPmKU4m',
  hasSignedTime: true,
  changedFields: ['name'],
  webhooks: {
    path: '/api/v1/webhook/',
    status: 200,
    createSecret: createHexSecret,
    parse(body) {
      for (const event of readList(body, 'events', 'object_type', 'action')) {
        const { object_type, action } = readTexts(event, 'object_type', 'action');
        if (object_type !== 'lead' || !/^(created|updated|deleted)$/.test(action)) {
          throw new BadRequest(`${object_type}.${action} is no event`);
        }
      }
      return readTexts(body, 'url');
    },
    toBody: ({ id, url, secret }) => ({ id, url, status: 'active', signature_key: secret }),
    // Only the response to the creation contains the key.
    getBodies: { '': ({ id, url }) => ({ id, url, status: 'active' }) },
  },
  send({ kind, sequence, sentAt, secret }) {
    // Close writes times in UTC without a zone.
    const time = `${sentAt.toISOString().replace('Z', '')}000`;
    const body = JSON.stringify({
      subscription_id: 'whsub_1',
      event: {
        id: `ev_${sequence}`,
        date_created: time,
        date_updated: time,
        action: CLOSE_ACTIONS[kind],
        object_type: 'lead',
        object_id: 'lead_qeQ4uAVvzRkX5WqSx4DvNaPmKU4m',
        lead_id: 'lead_qeQ4uAVvzRkX5WqSx4DvNaPmKU4m',
        organization_id: 'orga_1',
        changed_fields: kind === 'UPDATE' ? ['name'] : [],
        previous_data: kind === 'UPDATE' ? { name: 'Eve' } : {},
        data: { name: 'Ada' },
        meta: { request_method: 'PUT' },
      },
    });
    return { body, headers: this.sign(body, { secret, sentAt }) };
  },
  sign(body, { secret, sentAt }) {
    const timestamp = String(toSeconds(sentAt));
    // The key is hexadecimal text. Its bytes sign the request.
    const signature = hmac('sha256', Buffer.from(secret, 'hex'), timestamp + body);
    return { 'close-sig-hash': signature, 'close-sig-timestamp': timestamp };
  },
};

const ZENDESK_ACTIONS = {
  CREATE: 'created',
  UPDATE: 'subject_changed',
  DELETE: 'soft_deleted',
} as const;

export const zendesk: WireEvents = {
  objectName: 'tickets',
  recordId: '35436',
  hasSignedTime: true,
  webhooks: {
    path: '/api/v2/webhooks',
    status: 201,
    createSecret: () => randomBytes(32).toString('base64'),
    parse(body) {
      const { webhook } = body;
      const endpointTexts = readTexts(
        webhook,
        'name',
        'status',
        'endpoint',
        'http_method',
        'request_format',
      );
      if (
        `${endpointTexts.status} ${endpointTexts.http_method} ${endpointTexts.request_format}` !==
        'active POST json'
      ) {
        throw new BadRequest('Events are sent by POST as json');
      }
      const types = isObject(webhook) ? webhook.subscriptions : undefined;
      const isKnown = (type: unknown) => /^zen:event-type:ticket\.[a-z_]+$/.test(String(type));
      if (!Array.isArray(types) || types.length === 0 || !types.every(isKnown)) {
        throw new BadRequest('subscriptions is not valid');
      }
      return { url: endpointTexts.endpoint };
    },
    toBody: ({ id, url }) => ({ webhook: { id, endpoint: url, status: 'active' } }),
    getBodies: {
      signing_secret: ({ secret }) => ({ signing_secret: { algorithm: 'SHA256', secret } }),
    },
  },
  send({ kind, sequence, sentAt, secret }) {
    const time = sentAt.toISOString().replace('Z', '906323Z');
    const body = JSON.stringify({
      type: `zen:event-type:ticket.${ZENDESK_ACTIONS[kind]}`,
      account_id: 12_514_403,
      id: `2b24ef10-19d4-4740-93cf-${sequence}`,
      time,
      zendesk_event_version: '2022-11-06',
      subject: 'zen:ticket:35436',
      detail: { id: '35436', subject: 'A bug', status: 'OPEN', updated_at: time },
      event: kind === 'UPDATE' ? { current: 'A bug', previous: 'A bugg' } : {},
    });
    return { body, headers: this.sign(body, { secret, sentAt }) };
  },
  sign(body, { secret, sentAt }) {
    const timestamp = `${sentAt.toISOString().slice(0, 19)}Z`;
    return {
      'x-zendesk-webhook-id': '01GK8E6BKWMJZD2T8Y5AXJQMG5',
      'x-zendesk-webhook-signature': hmac('sha256', secret, timestamp + body, 'base64'),
      'x-zendesk-webhook-signature-timestamp': timestamp,
    };
  },
};

const OBJECT_ID = '97052eb9-e65e-443f-a297-f2d9a4a7f795';
const ATTIO_ACTIONS = { CREATE: 'created', UPDATE: 'updated', DELETE: 'deleted' } as const;

/**
 * Record events of all objects share their types, so a webhook is filtered by the ID of an object. Events of
 * notes need no filter.
 */
const attioWebhooks: WireWebhooks = {
  path: '/v2/webhooks',
  status: 200,
  createSecret: createHexSecret,
  parse({ data }) {
    for (const { event_type, filter } of readList(data, 'subscriptions', 'event_type', 'filter')) {
      if (/^(note\.(created|updated|deleted)|note-content\.updated)$/.test(String(event_type))) {
        if (filter === null) continue;
        throw new BadRequest('This server filters no notes');
      }
      const [condition] = readList(filter, '$and', 'field', 'operator', 'value');
      const { field, operator, value } = readTexts(condition, 'field', 'operator', 'value');
      const isRecordEvent = /^record\.(created|updated|deleted)$/.test(String(event_type));
      if (
        !isRecordEvent ||
        `${field} ${operator} ${value}` !== `id.object_id equals ${OBJECT_ID}`
      ) {
        throw new BadRequest('The subscription is not valid');
      }
    }
    return { url: readTexts(data, 'target_url').target_url };
  },
  toBody: ({ id, url, secret }) => ({ data: { ...describeAttioWebhook(id, url), secret } }),
  getBodies: { '': ({ id, url }) => ({ data: describeAttioWebhook(id, url) }) },
};

function describeAttioWebhook(id: string, url: string) {
  const status = 'active';
  return { id: { workspace_id: '14beef7a', webhook_id: id }, target_url: url, status };
}

export const attio: WireEvents = {
  objectName: 'companies',
  recordId: 'bf071e1f-6035-429d-b874-d83ea64ea13b',
  webhooks: attioWebhooks,
  serve: ({ path }) =>
    path === '/v2/objects/companies'
      ? { status: 200, body: { data: { id: { object_id: OBJECT_ID }, api_slug: 'companies' } } }
      : undefined,
  send({ kind, sequence, sentAt, secret }) {
    const id = { workspace_id: '14beef7a', object_id: OBJECT_ID, record_id: attio.recordId };
    const body = JSON.stringify({
      webhook_id: '23e42eaf-323a-41da-b5bb-fd67eebda553',
      events: [
        {
          event_type: `record.${ATTIO_ACTIONS[kind]}`,
          id: kind === 'UPDATE' ? { ...id, attribute_id: '41252299' } : id,
          actor: { type: 'workspace-member', id: '50cf242c' },
        },
      ],
    });
    const signature = this.sign(body, { secret, sentAt });
    return { body, headers: { ...signature, 'idempotency-key': `key-${sequence}` } };
  },
  sign: (body, { secret }) => ({ 'attio-signature': hmac('sha256', secret, body) }),
};

const ASANA_ACTIONS = { CREATE: 'added', UPDATE: 'changed', DELETE: 'deleted' } as const;

/** Asana sends a handshake to the URL while it creates a webhook. There is one webhook for each workspace. */
const asanaWebhooks: WireWebhooks = {
  path: '/1.0/webhooks',
  status: 201,
  createSecret: createHexSecret,
  parse({ data }) {
    const { resource, target } = readTexts(data, 'resource', 'target');
    if (!['11', '12'].includes(resource)) throw new BadRequest(`No such resource: ${resource}`);
    // Webhooks of workspaces allow no filters by fields.
    for (const filter of readList(data, 'filters', 'resource_type', 'action')) {
      const { resource_type, action } = readTexts(filter, 'resource_type', 'action');
      if (resource_type !== 'project' || !/^(added|changed|deleted|undeleted)$/.test(action)) {
        throw new BadRequest('The filter is not valid');
      }
    }
    return { url: target };
  },
  async sendHandshake({ url, secret }) {
    const headers = { 'X-Hook-Secret': secret, 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: '{}' });
    if (![200, 204].includes(response.status) || response.headers.get('x-hook-secret') !== secret) {
      throw new BadRequest('The remote server did not respond with the handshake secret');
    }
  },
  toBody: ({ id, url, secret }) => ({
    data: { gid: id, resource_type: 'webhook', active: true, target: url },
    'X-Hook-Secret': secret,
  }),
  getBodies: { '': ({ id, url }) => ({ data: { gid: id, active: true, target: url } }) },
};

export const asana: WireEvents = {
  objectName: 'projects',
  recordId: '1200000000000021',
  changedFields: ['name'],
  webhooks: asanaWebhooks,
  serve({ path, query }) {
    if (path === '/1.0/workspaces') {
      return { status: 200, body: { data: [{ gid: '11' }, { gid: '12' }], next_page: null } };
    }
    const requestsName = query.get('opt_fields')?.split(',').includes('name');
    if (path !== `/1.0/projects/${asana.recordId}` || !requestsName) return undefined;
    return { status: 200, body: { data: { gid: asana.recordId, name: 'From the account' } } };
  },
  send({ kind, sequence, sentAt, secret }) {
    const body = JSON.stringify({
      events: [
        {
          user: { gid: '1', resource_type: 'user' },
          created_at: new Date(sentAt.getTime() + sequence).toISOString(),
          action: ASANA_ACTIONS[kind],
          resource: { gid: asana.recordId, resource_type: 'project' },
          parent: null,
          ...(kind === 'UPDATE' && { change: { field: 'name', action: 'changed' } }),
        },
      ],
    });
    return { body, headers: this.sign(body, { secret, sentAt }) };
  },
  sign: (body, { secret }) => ({ 'x-hook-signature': hmac('sha256', secret, body) }),
};
