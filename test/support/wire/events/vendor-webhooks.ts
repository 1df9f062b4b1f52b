/** The webhooks that a vendor keeps, where they are made by requests: as its documents describe those. */
import type { ServedRequest, ServedResponse } from '../../providers/provider-server.ts';
import { BadRequest } from '../paging.ts';
import { isObject, type Values } from '../terms.ts';

export interface Webhook {
  id: string;
  /** Where it sends to. */
  url: string;
  /** What it signs with. */
  secret: string;
}

export interface WireWebhooks {
  /** Where they are made; each has an address below it. */
  path: string;
  /** Of an answer to a request that has made one. */
  status: number;
  /** What a request says; throws BadRequest for one that the vendor would refuse. */
  asks: (body: Values) => { url: string; secret?: string };
  /** The vendor makes the secret itself. */
  issues?: () => string;
  /** Asks the address whether somebody is there; throws BadRequest if nobody is. */
  greets?: (webhook: Webhook) => Promise<void>;
  /** What it is answered with, when it is made. */
  answer: (webhook: Webhook) => Values;
  /** What is told of it later, by what comes after its address; as at first if there is nothing. */
  later?: Record<string, (webhook: Webhook) => Values>;
}

export class VendorWebhooks {
  readonly kept = new Map<string, Webhook>();
  readonly #api: WireWebhooks;
  #made = 0;

  constructor(api: WireWebhooks) {
    this.#api = api;
  }

  /** Undefined for a request about something else. */
  async answer({ method, path, body }: ServedRequest): Promise<ServedResponse | undefined> {
    const { path: place, status, answer: response, later = {} } = this.#api;
    if (method === 'POST' && path === place)
      return { status, body: response(await this.#make(body)) };
    if (!path.startsWith(place)) return undefined;
    const [id = '', more = ''] = path.slice(place.length).split('/').filter(Boolean);
    const webhook = this.kept.get(id);
    if (!webhook) return { status: 404, body: {} };
    if (method === 'GET') return { status: 200, body: (later[more] ?? response)(webhook) };
    this.kept.delete(id);
    return { status: 204 };
  }

  async #make(body: unknown): Promise<Webhook> {
    if (!isObject(body)) throw new BadRequest('The body must be an object');
    const { issues, greets, asks } = this.#api;
    this.#made += 1;
    const webhook = { id: String(900 + this.#made), secret: issues?.() ?? '', ...asks(body) };
    await greets?.(webhook);
    this.kept.set(webhook.id, webhook);
    return webhook;
  }
}

/** Throws BadRequest unless all of them are texts. */
export function textsIn<Name extends string>(
  body: unknown,
  ...names: readonly Name[]
): Record<Name, string> {
  const found = names.map((name) => [name, textIn(body, name)] as const);
  return Object.fromEntries(found) as Record<Name, string>;
}

function textIn(body: unknown, name: string): string {
  const value = isObject(body) ? body[name] : undefined;
  if (typeof value === 'string' && value !== '') return value;
  throw new BadRequest(`${name} is missing`);
}
