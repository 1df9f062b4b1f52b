/** Viewers by their credentials, so that a caller who asks often is looked up twice a second, and by one request. */
import { LRUCache } from 'lru-cache';
import type { Viewer } from './viewer.ts';

/**
 * The viewer of a credential is looked up again after this time, so that a key that was deleted or
 * deactivated in another process is refused there within a second.
 */
const FRESH_MS = 500;
const VIEWERS_MAX = 10_000;

export class ViewerCache {
  readonly #viewers = new LRUCache<string, Viewer>({
    max: VIEWERS_MAX,
    ttl: FRESH_MS,
    noDeleteOnStaleGet: true,
  });
  readonly #lookUps = new Map<string, Promise<Viewer>>();

  get(credential: string): Viewer | undefined {
    return this.#viewers.get(credential);
  }

  /** The viewer when the credential was last looked up, however long ago. */
  remembered(credential: string): Viewer | undefined {
    return this.#viewers.peek(credential, { allowStale: true });
  }

  /** Requests of one credential that come meanwhile share the look-up. */
  async lookUp(credential: string, find: () => Promise<Viewer>): Promise<Viewer> {
    const begun = this.#lookUps.get(credential);
    if (begun) return begun;
    const lookUp = find();
    this.#lookUps.set(credential, lookUp);
    const isCurrent = () => this.#lookUps.get(credential) === lookUp;
    try {
      const viewer = await lookUp;
      if (isCurrent()) this.#viewers.set(credential, viewer);
      return viewer;
    } finally {
      if (isCurrent()) this.#lookUps.delete(credential);
    }
  }

  /** What is looked up now may be of before: nobody joins it, and it is not kept. */
  delete(credential: string): void {
    this.#viewers.delete(credential);
    this.#lookUps.delete(credential);
  }

  clear(): void {
    this.#viewers.clear();
    this.#lookUps.clear();
  }
}
