/**
 * What writes were last found to go to, kept for those that follow: accepting one with it finds that no row of it has
 * changed since (docs/decisions/050-targets-of-writes-are-known.md).
 */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../../database/database.ts';
import type { TargetKey, VersionedTarget } from '../../../database/reads/write-target.ts';
import { MINUTE_MS } from '../../../work/durations.ts';

/** Targets have some kilobytes each; credentials are sealed in them. */
const KEPT_MAX = 1_000;

const KEPT = new WeakMap<Database['prisma'], LRUCache<string, VersionedTarget>>();

export function keepTarget({ prisma }: Database, key: TargetKey, target: VersionedTarget): void {
  let kept = KEPT.get(prisma);
  if (!kept) {
    kept = new LRUCache({ max: KEPT_MAX, ttl: MINUTE_MS });
    KEPT.set(prisma, kept);
  }
  kept.set(nameOf(key), target);
}

/** Who may see it is not told. Nobody may change it. */
export function knownTarget({ prisma }: Database, key: TargetKey): VersionedTarget | null {
  return KEPT.get(prisma)?.get(nameOf(key)) ?? null;
}

function nameOf({ projectId, integration, groupRef }: TargetKey): string {
  return JSON.stringify([projectId, integration, groupRef]);
}
