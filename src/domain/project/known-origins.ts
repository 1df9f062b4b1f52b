/** The origins that any project allows, as this process knows them. */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../database/database.ts';

/** A change of a project's origins holds in every process within a second. */
const FRESH_MS = 1_000;
const KNOWN_MAX = 1_000;
/** Look-ups at once: who sends more origins than that gets them refused, and nobody else waits. */
const LOOKING_MAX = 50;

const ALLOWED = `select exists (
  select from "Project" where "allowedOrigins" @> array[$1]::text[]
) as "isAllowed"`;

/** Whether some project allows an origin; told at once if it was looked up a moment ago. */
export function createKnownOrigins({
  rows,
}: Pick<Database, 'rows'>): (origin: string) => boolean | Promise<boolean> {
  const known = new LRUCache<string, boolean>({ max: KNOWN_MAX, ttl: FRESH_MS });
  const looking = new Map<string, Promise<boolean>>();
  const look = async (origin: string): Promise<boolean> => {
    try {
      const [found] = await rows.query<{ isAllowed: boolean }>(ALLOWED, [origin]);
      const isAllowed = found?.isAllowed ?? false;
      known.set(origin, isAllowed);
      return isAllowed;
    } catch {
      // While the database is away, no page is let in: what it asks for would fail too.
      return false;
    } finally {
      looking.delete(origin);
    }
  };
  return (origin) => {
    const isKnown = known.get(origin);
    if (isKnown !== undefined) return isKnown;
    const running = looking.get(origin);
    if (running) return running;
    if (looking.size >= LOOKING_MAX) return false;
    const begun = look(origin);
    looking.set(origin, begun);
    return begun;
  };
}
