/** Vendors that make the secret themselves when a webhook is made, written from their documents on webhooks. */
import { randomBytes } from 'node:crypto';
import { BadRequest } from '../paging.ts';
import { isObject, type Values } from '../terms.ts';
import { textsIn, type WireWebhooks } from './vendor-webhooks.ts';
import { hmac, unixSeconds, type WireEvents } from './wire-events.ts';

const hexSecret = () => randomBytes(32).toString('hex');

/** Throws BadRequest unless it is a list of objects with these members alone, and there is one. */
function listIn(body: unknown, name: string, ...members: string[]): Values[] {
  const found = isObject(body) ? body[name] : undefined;
  const isSound = (one: unknown) =>
    isObject(one) && Object.keys(one).toSorted().join() === members.toSorted().join();
  if (Array.isArray(found) && found.length > 0 && found.every(isSound)) return found;
  throw new BadRequest(`${name} must be a list of ${members.join(' and ')}`);
}

const CLOSE = { CREATE: 'created', UPDATE: 'updated', DELETE: 'deleted' } as const;

export const close: WireEvents = {
  objectName: 'lead',
  recordId: 'lead_qeQ4uAVvzRkX5WqSx4DvNaPmKU4m',
  isDated: true,
  changedFields: ['name'],
  webhooks: {
    path: '/api/v1/webhook/',
    status: 200,
    issues: hexSecret,
    asks(body) {
      for (const event of listIn(body, 'events', 'object_type', 'action')) {
        const { object_type, action } = textsIn(event, 'object_type', 'action');
        if (object_type !== 'lead' || !/^(created|updated|deleted)$/.test(action)) {
          throw new BadRequest(`${object_type}.${action} is no event`);
        }
      }
      return textsIn(body, 'url');
    },
    answer: ({ id, url, secret }) => ({ id, url, status: 'active', signature_key: secret }),
    // The key is told once.
    later: { '': ({ id, url }) => ({ id, url, status: 'active' }) },
  },
  send({ kind, n, at, secret }) {
    // Without a zone, in UTC.
    const time = `${at.toISOString().replace('Z', '')}000`;
    const body = JSON.stringify({
      subscription_id: 'whsub_1',
      event: {
        id: `ev_${n}`,
        date_created: time,
        date_updated: time,
        action: CLOSE[kind],
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
    const timestamp = String(unixSeconds(at));
    // What is signed with is the bytes that the text encodes.
    const signature = hmac('sha256', Buffer.from(secret, 'hex'), timestamp + body);
    return { body, headers: { 'close-sig-hash': signature, 'close-sig-timestamp': timestamp } };
  },
};

const ZENDESK = { CREATE: 'created', UPDATE: 'subject_changed', DELETE: 'soft_deleted' } as const;

export const zendesk: WireEvents = {
  objectName: 'tickets',
  recordId: '35436',
  isDated: true,
  webhooks: {
    path: '/api/v2/webhooks',
    status: 201,
    issues: () => randomBytes(32).toString('base64'),
    asks(body) {
      const { webhook } = body;
      const said = textsIn(webhook, 'name', 'status', 'endpoint', 'http_method', 'request_format');
      if (`${said.status} ${said.http_method} ${said.request_format}` !== 'active POST json') {
        throw new BadRequest('Events are sent by POST as json');
      }
      const types = isObject(webhook) ? webhook.subscriptions : undefined;
      const isKnown = (type: unknown) => /^zen:event-type:ticket\.[a-z_]+$/.test(String(type));
      if (!Array.isArray(types) || types.length === 0 || !types.every(isKnown)) {
        throw new BadRequest('subscriptions is not valid');
      }
      return { url: said.endpoint };
    },
    answer: ({ id, url }) => ({ webhook: { id, endpoint: url, status: 'active' } }),
    later: {
      signing_secret: ({ secret }) => ({ signing_secret: { algorithm: 'SHA256', secret } }),
    },
  },
  send({ kind, n, at, secret }) {
    const time = at.toISOString().replace('Z', '906323Z');
    const body = JSON.stringify({
      type: `zen:event-type:ticket.${ZENDESK[kind]}`,
      account_id: 12_514_403,
      id: `2b24ef10-19d4-4740-93cf-${n}`,
      time,
      zendesk_event_version: '2022-11-06',
      subject: 'zen:ticket:35436',
      detail: { id: '35436', subject: 'A bug', status: 'OPEN', updated_at: time },
      event: kind === 'UPDATE' ? { current: 'A bug', previous: 'A bugg' } : {},
    });
    const timestamp = `${at.toISOString().slice(0, 19)}Z`;
    return {
      body,
      headers: {
        'x-zendesk-webhook-id': '01GK8E6BKWMJZD2T8Y5AXJQMG5',
        'x-zendesk-webhook-signature': hmac('sha256', secret, timestamp + body, 'base64'),
        'x-zendesk-webhook-signature-timestamp': timestamp,
      },
    };
  },
};

const OBJECT_ID = '97052eb9-e65e-443f-a297-f2d9a4a7f795';
const ATTIO = { CREATE: 'created', UPDATE: 'updated', DELETE: 'deleted' } as const;

/** Its events tell of records of all objects: a webhook is filtered by the id of one. Those of notes pass without. */
const attioWebhooks: WireWebhooks = {
  path: '/v2/webhooks',
  status: 200,
  issues: hexSecret,
  asks({ data }) {
    for (const { event_type, filter } of listIn(data, 'subscriptions', 'event_type', 'filter')) {
      if (/^(note\.(created|updated|deleted)|note-content\.updated)$/.test(String(event_type))) {
        if (filter === null) continue;
        throw new BadRequest('This server filters no notes');
      }
      const [condition] = listIn(filter, '$and', 'field', 'operator', 'value');
      const { field, operator, value } = textsIn(condition, 'field', 'operator', 'value');
      const isSound = /^record\.(created|updated|deleted)$/.test(String(event_type));
      if (!isSound || `${field} ${operator} ${value}` !== `id.object_id equals ${OBJECT_ID}`) {
        throw new BadRequest('The subscription is not valid');
      }
    }
    return { url: textsIn(data, 'target_url').target_url };
  },
  answer: ({ id, url, secret }) => ({ data: { ...attioWebhook(id, url), secret } }),
  later: { '': ({ id, url }) => ({ data: attioWebhook(id, url) }) },
};

function attioWebhook(id: string, url: string) {
  const status = 'active';
  return { id: { workspace_id: '14beef7a', webhook_id: id }, target_url: url, status };
}

export const attio: WireEvents = {
  objectName: 'companies',
  recordId: 'bf071e1f-6035-429d-b874-d83ea64ea13b',
  webhooks: attioWebhooks,
  serves: ({ path }) =>
    path === '/v2/objects/companies'
      ? { status: 200, body: { data: { id: { object_id: OBJECT_ID }, api_slug: 'companies' } } }
      : undefined,
  send({ kind, n, secret }) {
    const id = { workspace_id: '14beef7a', object_id: OBJECT_ID, record_id: attio.recordId };
    const body = JSON.stringify({
      webhook_id: '23e42eaf-323a-41da-b5bb-fd67eebda553',
      events: [
        {
          event_type: `record.${ATTIO[kind]}`,
          id: kind === 'UPDATE' ? { ...id, attribute_id: '41252299' } : id,
          actor: { type: 'workspace-member', id: '50cf242c' },
        },
      ],
    });
    const signature = hmac('sha256', secret, body);
    return { body, headers: { 'attio-signature': signature, 'idempotency-key': `key-${n}` } };
  },
};

const ASANA = { CREATE: 'added', UPDATE: 'changed', DELETE: 'deleted' } as const;

/** Asks the address for an echo while it makes a webhook; there is one for each workspace. */
const asanaWebhooks: WireWebhooks = {
  path: '/1.0/webhooks',
  status: 201,
  issues: hexSecret,
  asks({ data }) {
    const { resource, target } = textsIn(data, 'resource', 'target');
    if (!['11', '12'].includes(resource)) throw new BadRequest(`No such resource: ${resource}`);
    // Filters by fields are not for workspaces.
    for (const filter of listIn(data, 'filters', 'resource_type', 'action')) {
      const { resource_type, action } = textsIn(filter, 'resource_type', 'action');
      if (resource_type !== 'project' || !/^(added|changed|deleted|undeleted)$/.test(action)) {
        throw new BadRequest('The filter is not valid');
      }
    }
    return { url: target };
  },
  async greets({ url, secret }) {
    const headers = { 'X-Hook-Secret': secret, 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: '{}' });
    if (![200, 204].includes(response.status) || response.headers.get('x-hook-secret') !== secret) {
      throw new BadRequest('The remote server did not respond with the handshake secret');
    }
  },
  answer: ({ id, url, secret }) => ({
    data: { gid: id, resource_type: 'webhook', active: true, target: url },
    'X-Hook-Secret': secret,
  }),
  later: { '': ({ id, url }) => ({ data: { gid: id, active: true, target: url } }) },
};

export const asana: WireEvents = {
  objectName: 'projects',
  recordId: '1200000000000021',
  changedFields: ['name'],
  webhooks: asanaWebhooks,
  serves({ path, query }) {
    if (path === '/1.0/workspaces') {
      return { status: 200, body: { data: [{ gid: '11' }, { gid: '12' }], next_page: null } };
    }
    const isAsked = query.get('opt_fields')?.split(',').includes('name');
    if (path !== `/1.0/projects/${asana.recordId}` || !isAsked) return undefined;
    return { status: 200, body: { data: { gid: asana.recordId, name: 'From the account' } } };
  },
  send({ kind, n, at, secret }) {
    const body = JSON.stringify({
      events: [
        {
          user: { gid: '1', resource_type: 'user' },
          created_at: new Date(at.getTime() + n).toISOString(),
          action: ASANA[kind],
          resource: { gid: asana.recordId, resource_type: 'project' },
          parent: null,
          ...(kind === 'UPDATE' && { change: { field: 'name', action: 'changed' } }),
        },
      ],
    });
    return { body, headers: { 'x-hook-signature': hmac('sha256', secret, body) } };
  },
};
