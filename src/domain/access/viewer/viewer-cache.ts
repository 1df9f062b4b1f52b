/** Caches viewers by their credentials, so that a busy caller is looked up at most twice a second. */
import { LRUCache } from 'lru-cache';
import { growUpTo } from '../../../work/growing-cache.ts';
import type { OrgRole } from './org-role.ts';
import type { Viewer } from './viewer.ts';

/** How long a viewer is cached. Short, so that a key that another process deleted or deactivated is rejected within a second. */
const CACHE_MS = 500;
const VIEWERS_MAX = 10_000;

export class ViewerCache {
  readonly #viewers = new LRUCache<string, Viewer>({
    ...growUpTo(VIEWERS_MAX),
    ttl: CACHE_MS,
    noDeleteOnStaleGet: true,
  });
  readonly #lookUps = new Map<string, Promise<Viewer>>();

  get(credential: string): Viewer | undefined {
    return this.#viewers.get(credential);
  }

  /** Returns the viewer of the last lookup of the credential, regardless of its age. */
  findStale(credential: string): Viewer | undefined {
    return this.#viewers.peek(credential, { allowStale: true });
  }

  /** Looks up a viewer and caches it. Simultaneous requests with the same credential share one lookup. */
  async lookUp(credential: string, findViewer: () => Promise<Viewer>): Promise<Viewer> {
    const runningLookUp = this.#lookUps.get(credential);
    if (runningLookUp) return runningLookUp;
    const lookUp = findViewer();
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

  /**
   * Removes a credential. A running lookup may return an outdated viewer, so no other request joins it and its result
   * is not cached.
   */
  delete(credential: string): void {
    this.#viewers.delete(credential);
    this.#lookUps.delete(credential);
  }

  clear(): void {
    this.#viewers.clear();
    this.#lookUps.clear();
  }
}

/**
 * Updates this call and the caches after a builder's role in an org has changed. `role` is null if the builder left the
 * org, or the org was deleted. Caches of other processes expire within a second.
 */
export function applyRole(
  call: { viewer: Viewer; viewers: ViewerCache },
  { orgId, builderId, role }: { orgId: string; builderId: string; role: OrgRole | null },
): void {
  const { viewer } = call;
  if (viewer.kind === 'BUILDER' && viewer.id === builderId) {
    const roles = new Map(viewer.roles);
    if (role === null) roles.delete(orgId);
    else roles.set(orgId, role);
    call.viewer = { ...viewer, roles };
  }
  call.viewers.clear();
}
