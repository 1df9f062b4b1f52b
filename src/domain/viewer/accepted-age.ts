/**
 * Rows of some age, for callers who accept it: the same reads within the same scope, of a standby in place of the
 * primary. Changes, and what is read for them, are of the primary alone.
 */
import { type Config, READ_AGE_MAX_MS } from '../../config.ts';
import { agedRows } from '../../database/reads/aged-rows.ts';
import { SECOND_MS } from '../../work/durations.ts';
import type { Services } from '../call.ts';
import type { Viewer } from './viewer.ts';

/** What a request says of it, and how it is answered. */
export interface AcceptedAge {
  /** The request's header, RFC 9111: `max-age` is the age in seconds that the caller accepts. */
  cacheControl?: string | null | undefined;
  /** A header of the answer, if there is one answer. */
  setHeader?: ((name: string, value: string) => void) | undefined;
}

/** For one request that reads. The answer's `Age` says that it came from the standby, and how old it is at most. */
export function readingServices(
  services: Services,
  viewer: Viewer | null,
  { cacheControl, setHeader }: AcceptedAge,
): Services {
  const { config, database } = services;
  const { replica } = database;
  const maxMs = replica && viewer ? acceptedMs(cacheControl, config) : 0;
  if (!replica || !viewer || maxMs === 0) return services;
  let fit: Promise<boolean> | undefined;
  const look = async () => {
    const ageMs = await replica.ageFor(viewer.id);
    if (ageMs === null || ageMs > maxMs) return false;
    setHeader?.('age', String(Math.ceil(ageMs / SECOND_MS)));
    return true;
  };
  const rows = agedRows({
    primary: database.rows,
    standby: replica.rows,
    // Once for a request: what its caller has written before is in what was replayed by then.
    isFit: () => (fit ??= look()),
    onFailure: replica.onFailure,
  });
  return { ...services, database: { ...database, rows } };
}

/** After a change of a caller, before it is answered: the caller's reads by any process see it. */
export async function noteChange({ database }: Services, viewer: Viewer | null): Promise<void> {
  if (viewer) await database.replica?.changed(viewer.id);
}

const WITH_AGE = /(?:^|,)\s*max-age\s*=\s*"?(\d+)"?\s*(?:,|$)/i;
const NEW_ONLY = /(?:^|,)\s*no-(?:cache|store)\s*(?:,|$)/i;

function acceptedMs(
  cacheControl: string | null | undefined,
  { DATABASE_REPLICA_MAX_AGE_MS }: Config,
): number {
  if (!cacheControl) return DATABASE_REPLICA_MAX_AGE_MS;
  if (NEW_ONLY.test(cacheControl)) return 0;
  const seconds = WITH_AGE.exec(cacheControl)?.[1];
  if (seconds === undefined) return DATABASE_REPLICA_MAX_AGE_MS;
  return Math.min(Number(seconds) * SECOND_MS, READ_AGE_MAX_MS);
}
