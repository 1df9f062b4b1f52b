/** What resolvers get: the caller's call, and relations batched for the request. */
import DataLoader from 'dataloader';
import type { Call, Services } from '../domain/call.ts';
import type { Batch } from '../domain/scope.ts';
import type { Viewer } from '../domain/viewer.ts';
import { notFound, unauthenticated } from '../errors.ts';

export interface Context {
  /** Throws UNAUTHENTICATED for a caller without credentials: nothing of the domain is reached without. */
  readonly call: Call;
  viewer: Viewer | null;
  requestId: string;
  /** One item of a batch, or null; all that one tick of a request asks for is loaded by one call. */
  find<K, V>(batch: Batch<K, V>, key: K): Promise<V>;
  /** The same where there must be one. */
  get<K, V>(batch: Batch<K, V>, key: K): Promise<NonNullable<V>>;
}

export function createContext(
  services: Services,
  { viewer, requestId }: Pick<Context, 'viewer' | 'requestId'>,
): Context {
  const call = viewer && { ...services, viewer };
  const needCall = () => {
    if (call) return call;
    throw unauthenticated('Send an API key as X-Api-Key, or a bearer token as Authorization.');
  };
  const loaders = new Map<unknown, DataLoader<unknown, unknown>>();
  const find: Context['find'] = (batch, key) => {
    let loader = loaders.get(batch);
    if (!loader) {
      loader = new DataLoader((keys) => batch(needCall(), keys as never), { maxBatchSize: 1000 });
      loaders.set(batch, loader);
    }
    return loader.load(key) as Promise<never>;
  };
  return {
    viewer,
    requestId,
    get call() {
      return needCall();
    },
    find,
    async get(batch, key) {
      const item = await find(batch, key);
      if (item == null) throw notFound('What this points to', String(key));
      return item;
    },
  };
}
