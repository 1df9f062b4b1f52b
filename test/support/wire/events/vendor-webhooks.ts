/** The webhooks that a vendor keeps, where they are made by requests: as its documents describe those. */
import type { ServedAnswer, ServedRequest } from '../../providers/provider-server.ts';
import { BadRequest } from '../paging.ts';
import { isObject, type Values } from '../terms.ts';

export interface Webhook {
  id: string;
  /** Where it sends to. */
  url: string;
  /** What it signs with. */
  secret: string;
  /** What it was asked to send, as the request said it. */
  asked: Values;
}

export interface WireWebhooks {
  /** Where they are made; each has an address below it. */
  path: string;
  /** Of an answer to a request that has made one. */
  status: number;
  /** What a request says; throws BadRequest for one that the vendor would refuse. */
  asks: (body: Values) => Pick<Webhook, 'url' | 'secret'>;
  answer: (webhook: Webhook) => Values;
}

export class VendorWebhooks {
  readonly kept = new Map<string, Webhook>();
  readonly #api: WireWebhooks;
  #made = 0;

  constructor(api: WireWebhooks) {
    this.#api = api;
  }

  /** Undefined for a request about something else. */
  answer({ method, path, body }: ServedRequest): ServedAnswer | undefined {
    const { path: place, status, answer } = this.#api;
    if (method === 'POST' && path === place) {
      const webhook = this.#make(body);
      return { status, body: answer(webhook) };
    }
    const [, id = ''] = path.startsWith(place)
      ? (/^\/?(\w+)\/?$/.exec(path.slice(place.length)) ?? [])
      : [];
    const webhook = this.kept.get(id);
    if (id === '') return undefined;
    if (!webhook) return { status: 404, body: {} };
    if (method !== 'DELETE') return { status: 200, body: answer(webhook) };
    this.kept.delete(id);
    return { status: 204 };
  }

  #make(body: unknown): Webhook {
    if (!isObject(body)) throw new BadRequest('The body must be an object');
    this.#made += 1;
    const webhook = { id: String(900 + this.#made), ...this.#api.asks(body), asked: body };
    this.kept.set(webhook.id, webhook);
    return webhook;
  }
}

/** Throws BadRequest unless all of them are texts. */
export function textsIn<Name extends string>(
  body: unknown,
  ...names: readonly Name[]
): Record<Name, string> {
  const found = names.map((name) => {
    const value = isObject(body) ? body[name] : undefined;
    if (typeof value !== 'string' || value === '') throw new BadRequest(`${name} is missing`);
    return [name, value];
  });
  return Object.fromEntries(found);
}
