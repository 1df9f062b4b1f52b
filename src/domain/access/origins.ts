/**
 * The origins of a project's own pages. These pages may send tokens of end users, frame the connect page, receive the
 * result of an OAuth flow, and be targets of redirects.
 */
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Database } from '../../database/open/database.ts';
import { sqlStatement } from '../../database/statements/statements.ts';
import type { Row } from '../../database/statements/tables.ts';
import type { Issue } from '../../kernel/errors.ts';
import { isOrigin, origin } from '../../settings/setting-kinds.ts';
import { createInputIssue } from '../base/issues.ts';
import type { Services } from './call.ts';

const ORIGINS_MAX = 50;

export const allowedOrigins = z
  .array(origin.max(256))
  .max(ORIGINS_MAX)
  .transform((origins) => [...new Set(origins)])
  .describe(
    "Origins like https://app.example whose pages may call the gateway with tokens of the project's end users. At most 50.",
  );

/** Lists the origins whose pages may frame the connect page of a project. Empty if the project does not exist. */
export async function listAllowedOrigins(
  { database }: Pick<Services, 'database'>,
  id: string,
): Promise<readonly string[]> {
  const project = await database.reads.findProject({ id });
  return project?.allowedOrigins ?? [];
}

/** The gateway's own page on which end users connect. */
export const CONNECT_PATH = '/connect';

/**
 * Returns an issue if a browser must not be redirected to the URL. The project or the operator must allow its origin,
 * unless it is the connect page.
 */
export function listReturnIssues(
  { config, publicUrl }: Pick<Services, 'config' | 'publicUrl'>,
  project: Pick<Row<'Project'>, 'allowedOrigins'>,
  url: string | null | undefined,
  field: string,
): Issue[] {
  if (url == null) return [];
  const allowedOrigins = [...config.REDIRECT_ORIGINS, ...project.allowedOrigins];
  const { origin, pathname } = new URL(url);
  const isConnectPage = origin + pathname === publicUrl() + CONNECT_PATH;
  if (isConnectPage || allowedOrigins.includes(origin)) return [];
  const detail =
    'must have an origin that is in allowedOrigins of the project or in REDIRECT_ORIGINS of the server.';
  return [createInputIssue([field], detail, url)];
}

/** How long a result is cached. A change of a project's origins takes effect in every process within this time. */
const CACHE_MS = 1_000;
const CACHED_ORIGINS_MAX = 1_000;
/**
 * The maximum number of simultaneous look-ups. Further origins are refused, so that a flood of origins does not delay
 * other requests.
 */
const LOOKUPS_MAX = 50;

const IS_ALLOWED = sqlStatement<{ isAllowed: boolean }>(`select exists (
  select from "Project" where "allowedOrigins" @> array[$1]::text[]
) as "isAllowed"`);

/**
 * Returns a function that checks whether `allowedOrigins` of any project contains the origin. Returns a cached result
 * directly, not as a promise.
 */
export function createOriginCache({
  run,
}: Pick<Database, 'run'>): (origin: string) => boolean | Promise<boolean> {
  const cache = new LRUCache<string, boolean>({ max: CACHED_ORIGINS_MAX, ttl: CACHE_MS });
  const lookups = new Map<string, Promise<boolean>>();
  const lookUp = async (origin: string): Promise<boolean> => {
    try {
      const [result] = await run(IS_ALLOWED, [origin]);
      const isAllowed = result?.isAllowed ?? false;
      cache.set(origin, isAllowed);
      return isAllowed;
    } catch {
      // While the database is unavailable, requests of the page would fail too.
      return false;
    } finally {
      lookups.delete(origin);
    }
  };
  return (origin) => {
    if (!isOrigin(origin)) return false;
    const cachedResult = cache.get(origin);
    if (cachedResult !== undefined) return cachedResult;
    const runningLookup = lookups.get(origin);
    if (runningLookup) return runningLookup;
    if (lookups.size >= LOOKUPS_MAX) return false;
    const lookup = lookUp(origin);
    lookups.set(origin, lookup);
    return lookup;
  };
}
