/**
 * What writes were last found to go to, kept for those that follow: accepting one with it finds that no row of it has
 * changed since (docs/decisions/050-targets-of-writes-are-known.md).
 */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../../database/database.ts';
import type { TargetKey, VersionedTarget } from '../../../database/reads/write-target.ts';
import { MINUTE_MS } from '../../../work/durations.ts';

const KEPT_MAX = 1_000;
/** Of their texts, credentials as they are sealed among them. Most have a kilobyte or two. */
const KEPT_CHARS_MAX = 16_000_000;

interface Kept {
  target: VersionedTarget;
  /** A server that has taken over may give the versions that the lost one gave since. */
  outagesSeen: number;
}

const KEPT = new WeakMap<Database['prisma'], LRUCache<string, Kept>>();

/** `outagesSeen` before it was read. */
export function keepTarget(
  { prisma }: Database,
  key: TargetKey,
  { target, outagesSeen }: Kept,
): void {
  let kept = KEPT.get(prisma);
  if (!kept) {
    // What is no longer asked for goes too, when its minute is over.
    const limits = { max: KEPT_MAX, maxSize: KEPT_CHARS_MAX, ttl: MINUTE_MS, ttlAutopurge: true };
    kept = new LRUCache(limits);
    KEPT.set(prisma, kept);
  }
  const size = JSON.stringify(target).length;
  kept.set(nameOf(key), { target, outagesSeen }, { size });
}

/** Who may see it is not told. Nobody may change it. */
export function knownTarget({ prisma, outages }: Database, key: TargetKey): VersionedTarget | null {
  const kept = KEPT.get(prisma)?.get(nameOf(key));
  return kept?.outagesSeen === outages.seen ? kept.target : null;
}

/** It may have changed. What was found since then stays. */
export function forgetTarget({ prisma }: Database, key: TargetKey, target: VersionedTarget): void {
  const kept = KEPT.get(prisma);
  if (kept?.peek(nameOf(key))?.target === target) kept.delete(nameOf(key));
}

function nameOf({ projectId, integration, groupRef }: TargetKey): string {
  return JSON.stringify([projectId, integration, groupRef]);
}
