/** The webhooks that clients create at a vendor, as its documentation describes them. */
import type { ServedRequest, ServedResponse } from '../../providers/provider-server.ts';
import { BadRequest } from '../paging.ts';
import { isObject, type Values } from '../wire-format.ts';

export interface Webhook {
  id: string;
  /** The URL that it sends to. */
  url: string;
  /** The secret that it signs with. */
  secret: string;
}

export interface WireWebhooks {
  /** The path that creates webhooks. Each webhook is at `<path>/<id>`. */
  path: string;
  /** Status of the response to a creation. */
  status: number;
  /** Parses the body of a creation. Throws BadRequest for a body that the vendor would refuse. */
  parse: (body: Values) => { url: string; secret?: string };
  /** Generates the secret, if the vendor and not the client does. */
  createSecret?: () => string;
  /** Sends the handshake to the webhook's URL. Throws BadRequest if it fails. */
  sendHandshake?: (webhook: Webhook) => Promise<void>;
  /** Returns the body of the response to a creation. */
  toBody: (webhook: Webhook) => Values;
  /** Bodies of the responses to GET, by subpath of the webhook. Default: the body of the creation. */
  getBodies?: Record<string, (webhook: Webhook) => Values>;
}

export class VendorWebhooks {
  readonly webhooks = new Map<string, Webhook>();
  readonly #api: WireWebhooks;
  #lastNumber = 0;

  constructor(api: WireWebhooks) {
    this.#api = api;
  }

  /** Returns undefined for a path that is not about webhooks. */
  async serve({ method, path, body }: ServedRequest): Promise<ServedResponse | undefined> {
    const { path: webhooksPath, status, toBody, getBodies = {} } = this.#api;
    if (method === 'POST' && path === webhooksPath)
      return { status, body: toBody(await this.#create(body)) };
    if (!path.startsWith(webhooksPath)) return undefined;
    const [id = '', subpath = ''] = path.slice(webhooksPath.length).split('/').filter(Boolean);
    const webhook = this.webhooks.get(id);
    if (!webhook) return { status: 404, body: {} };
    if (method === 'GET') return { status: 200, body: (getBodies[subpath] ?? toBody)(webhook) };
    if (method === 'DELETE') {
      this.webhooks.delete(id);
      return { status: 204 };
    }
    return { status: 405, body: {} };
  }

  async #create(body: unknown): Promise<Webhook> {
    if (!isObject(body)) throw new BadRequest('The body must be an object');
    const { createSecret, sendHandshake, parse } = this.#api;
    this.#lastNumber += 1;
    const webhook = {
      id: String(900 + this.#lastNumber),
      secret: createSecret?.() ?? '',
      ...parse(body),
    };
    await sendHandshake?.(webhook);
    this.webhooks.set(webhook.id, webhook);
    return webhook;
  }
}

/** Returns the members. Throws BadRequest unless each is a string that is not empty. */
export function readTexts<Name extends string>(
  body: unknown,
  ...names: readonly Name[]
): Record<Name, string> {
  const texts = names.map((name) => [name, readText(body, name)] as const);
  return Object.fromEntries(texts) as Record<Name, string>;
}

function readText(body: unknown, name: string): string {
  const value = isObject(body) ? body[name] : undefined;
  if (typeof value === 'string' && value !== '') return value;
  throw new BadRequest(`${name} is missing`);
}
