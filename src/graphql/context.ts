/** What resolvers get: the caller's call, and relations batched for the request. */
import DataLoader from 'dataloader';
import type { Call, Services } from '../domain/call.ts';
import type { Batch } from '../domain/scope.ts';
import type { Credentials, Viewer } from '../domain/viewer/viewer.ts';
import { notFound, unauthenticated } from '../errors.ts';

/** Who asks, and what came with the request. */
export interface ContextFacts {
  viewer: Viewer | null;
  requestId: string;
  /** What the caller showed; a stream that stays open shows it again and again. */
  credentials?: Credentials;
  /** Where an event stream that was cut begins again: a cursor. */
  lastEventId?: string | null;
}

export interface Context extends ContextFacts {
  /** Any use throws UNAUTHENTICATED for a caller without credentials: nothing of the domain is reached without. */
  readonly call: Call;
  /** One item of a batch, or null; all that one tick of a request asks for is loaded by one call. */
  find<K, V>(batch: Batch<K, V>, key: K): Promise<V>;
  /** The same where there must be one. */
  get<K, V>(batch: Batch<K, V>, key: K): Promise<NonNullable<V>>;
}

export function createContext(services: Services, facts: ContextFacts): Context {
  const { viewer } = facts;
  const call: Call = viewer ? { ...services, viewer } : NOBODY;
  const loaders = new Map<unknown, DataLoader<unknown, unknown>>();
  const find: Context['find'] = (batch, key) => {
    let loader = loaders.get(batch);
    if (!loader) {
      loader = new DataLoader((keys) => batch(call, keys as never), { maxBatchSize: 1000 });
      loaders.set(batch, loader);
    }
    return loader.load(key) as Promise<never>;
  };
  return {
    ...facts,
    call,
    find,
    async get(batch, key) {
      const item = await find(batch, key);
      if (item == null) throw notFound('What this points to', String(key));
      return item;
    },
  };
}

/** Throws when it is used, not when it is read: Yoga copies the members of a context before anything runs. */
const NOBODY = new Proxy({} as Call, {
  get() {
    throw withoutCredentials();
  },
});

export function withoutCredentials() {
  return unauthenticated('Send an API key as X-Api-Key, or a bearer token as Authorization.');
}
