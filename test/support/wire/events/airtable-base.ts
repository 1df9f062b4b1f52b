/**
 * An Airtable base with its webhooks, written from the vendor's reference:
 * /developers/web/api/webhooks-overview.
 */
import { randomBytes } from 'node:crypto';
import type { ServedRequest, ServedResponse } from '../../providers/provider-server.ts';
import { isObject, type Values } from '../wire-format.ts';
import { hmac } from './wire-events.ts';

const BASE_ID = 'appBase';
const WEBHOOKS_PATH = `/v0/bases/${BASE_ID}/webhooks`;
/** Limit for one OAuth integration in a base. */
const WEBHOOKS_MAX = 2;
const PAYLOADS_MAX = 50;
const WEEK_MS = 7 * 86_400_000;

export interface AirtableWebhook {
  id: string;
  url: string;
  macSecretBase64: string;
  areNotificationsEnabled: boolean;
  isHookEnabled: boolean;
  expirationTime: Date;
  /** Payloads by number, starting with 1. Airtable deletes payloads after a week. */
  payloads: Map<number, Values>;
  next: number;
}

/** IDs of a table's records that one transaction changed. */
interface TableChange {
  created?: string[];
  changed?: string[];
  destroyed?: string[];
}

const NOT_FOUND: ServedResponse = { status: 404, body: { error: 'NOT_FOUND' } };

export class AirtableBase {
  readonly webhooks = new Map<string, AirtableWebhook>();
  #transactions = 0;
  #lastNumber = 0;

  /** Returns undefined for a path that is not about webhooks. */
  serve(request: ServedRequest): ServedResponse | undefined {
    const { method, path, query, body } = request;
    if (!path.startsWith(WEBHOOKS_PATH)) return undefined;
    const [id, action, ...rest] = path.slice(WEBHOOKS_PATH.length).split('/').filter(Boolean);
    if (id === undefined) return method === 'POST' ? this.#create(body) : this.#list();
    const webhook = this.webhooks.get(id);
    if (!webhook || rest.length > 0) return NOT_FOUND;
    switch (`${method} ${action ?? ''}`) {
      case 'DELETE ':
        this.webhooks.delete(id);
        return { status: 200, body: {} };
      case 'POST refresh':
        return this.#refresh(webhook);
      case 'POST enableNotifications':
        if (!isObject(body) || typeof body.enable !== 'boolean')
          return createInvalidResponse('enable');
        webhook.areNotificationsEnabled = body.enable;
        return { status: 200, body: {} };
      case 'GET payloads':
        return this.#payloads(webhook, query);
    }
    return NOT_FOUND;
  }

  #create(body: unknown): ServedResponse {
    const { notificationUrl, specification } = isObject(body) ? body : {};
    const options = isObject(specification) ? specification.options : undefined;
    const filters = isObject(options) ? options.filters : undefined;
    const types = isObject(filters) ? filters.dataTypes : undefined;
    const knownTypes = ['tableData', 'tableFields', 'tableMetadata'];
    if (
      !Array.isArray(types) ||
      types.length === 0 ||
      !types.every((type) => knownTypes.includes(type))
    ) {
      return createInvalidResponse('specification');
    }
    if (typeof notificationUrl !== 'string' || !URL.canParse(notificationUrl)) {
      return createInvalidResponse('notificationUrl');
    }
    if (this.webhooks.size >= WEBHOOKS_MAX) return createInvalidResponse('too many webhooks');
    this.#lastNumber += 1;
    const webhook: AirtableWebhook = {
      id: `ach${String(this.#lastNumber).padStart(14, '0')}`,
      url: notificationUrl,
      macSecretBase64: randomBytes(32).toString('base64'),
      areNotificationsEnabled: true,
      isHookEnabled: true,
      expirationTime: createExpiry(),
      payloads: new Map(),
      next: 1,
    };
    this.webhooks.set(webhook.id, webhook);
    const { id, macSecretBase64, expirationTime } = webhook;
    return { status: 200, body: { id, macSecretBase64, expirationTime } };
  }

  #list(): ServedResponse {
    const webhooks = [...this.webhooks.values()].map((webhook) => {
      // Only the response to the creation contains the secret.
      const {
        macSecretBase64: _secret,
        payloads: _payloads,
        url,
        next,
        ...visibleMembers
      } = webhook;
      return {
        ...visibleMembers,
        notificationUrl: url,
        cursorForNextPayload: next,
        lastSuccessfulNotificationTime: null,
        lastNotificationResult: null,
        specification: { options: { filters: { dataTypes: ['tableData'] } } },
      };
    });
    return { status: 200, body: { webhooks } };
  }

  #refresh(webhook: AirtableWebhook): ServedResponse {
    // "This endpoint only applies to active webhooks with an expiration time."
    if (!webhook.isHookEnabled) return createInvalidResponse('the webhook is not active');
    webhook.expirationTime = createExpiry();
    return { status: 200, body: { expirationTime: webhook.expirationTime } };
  }

  #payloads(webhook: AirtableWebhook, query: URLSearchParams): ServedResponse {
    const cursor = Number(query.get('cursor') ?? 1);
    const limit = Number(query.get('limit') ?? PAYLOADS_MAX);
    if (!Number.isInteger(cursor) || cursor < 1) return createInvalidResponse('cursor');
    if (!Number.isInteger(limit) || limit < 1 || limit > PAYLOADS_MAX)
      return createInvalidResponse('limit');
    if (webhook.isHookEnabled) webhook.expirationTime = createExpiry();
    const payloadsLeft = [...webhook.payloads].filter(([number]) => number >= cursor);
    const pagePayloads = payloadsLeft.slice(0, limit);
    const lastNumber = pagePayloads.at(-1)?.[0];
    return {
      status: 200,
      body: {
        payloads: pagePayloads.map(([, payload]) => payload),
        cursor: lastNumber === undefined ? cursor : lastNumber + 1,
        mightHaveMore: payloadsLeft.length > pagePayloads.length,
      },
    };
  }

  /** Records a transaction for each active webhook. */
  change(tables: Record<string, TableChange>, time = new Date()): void {
    this.#transactions += 1;
    const changedTablesById = Object.fromEntries(
      Object.entries(tables).map(([table, change]) => [table, createTableChange(change, time)]),
    );
    this.addPayload({ ...this.#describeTransaction(time), changedTablesById });
  }

  /** Records a payload for each active webhook. */
  addPayload(payload: Values): void {
    for (const webhook of this.webhooks.values()) {
      if (!webhook.isHookEnabled) continue;
      webhook.payloads.set(webhook.next, payload);
      webhook.next += 1;
    }
  }

  /** Records the error payload of a change that the vendor could not describe. */
  recordError(time = new Date()): void {
    this.addPayload({ error: true, code: 'INTERNAL_ERROR', ...this.#describeTransaction(time) });
  }

  #describeTransaction(time: Date): Values {
    return {
      timestamp: time.toISOString(),
      baseTransactionNumber: this.#transactions,
      payloadFormat: 'v0',
      actionMetadata: { source: 'client', sourceMetadata: { user: { id: 'usr00000000000000' } } },
    };
  }

  /** Sends a ping and returns the status of the response. Returns null if notifications are disabled. */
  async sendPing(webhook: AirtableWebhook): Promise<number | null> {
    if (!webhook.areNotificationsEnabled || !webhook.isHookEnabled) return null;
    const { body, headers } = signPing(webhook);
    return (await fetch(webhook.url, { method: 'POST', headers, body })).status;
  }
}

/** Returns the body and the signed headers of a ping. */
export function signPing(
  { id, macSecretBase64 }: Pick<AirtableWebhook, 'id' | 'macSecretBase64'>,
  timestamp = new Date(),
) {
  const body = JSON.stringify({ base: { id: BASE_ID }, webhook: { id }, timestamp });
  const headers = {
    'content-type': 'application/json',
    ...signPingBody({ macSecretBase64 }, body),
  };
  return { body, headers };
}

/** Returns the header that signs the body of a ping. */
export function signPingBody(
  { macSecretBase64 }: Pick<AirtableWebhook, 'macSecretBase64'>,
  body: string,
) {
  const mac = hmac('sha256', Buffer.from(macSecretBase64, 'base64'), body);
  return { 'x-airtable-content-mac': `hmac-sha256=${mac}` };
}

function createTableChange(
  { created = [], changed = [], destroyed = [] }: TableChange,
  time: Date,
) {
  const values = { cellValuesByFieldId: { fldName0000000000: 'as it was' } };
  const createMap = (ids: string[], details: Values) =>
    Object.fromEntries(ids.map((id) => [id, details]));
  return {
    ...(created.length > 0 && {
      createdRecordsById: createMap(created, { ...values, createdTime: time.toISOString() }),
    }),
    ...(changed.length > 0 && { changedRecordsById: createMap(changed, { current: values }) }),
    ...(destroyed.length > 0 && { destroyedRecordIds: destroyed }),
  };
}

function createInvalidResponse(message: string): ServedResponse {
  return { status: 422, body: { error: { type: 'INVALID_REQUEST', message } } };
}

function createExpiry(): Date {
  return new Date(Date.now() + WEEK_MS);
}
