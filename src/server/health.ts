/** /livez: the process runs. /readyz: it takes requests. */
import type { Database } from '../database/database.ts';

export function live(): Response {
  return Response.json({ status: 'live' });
}

export async function readiness(database: Database, isReady: boolean): Promise<Response> {
  const reached = await database.ping().then(
    () => true,
    () => false,
  );
  const ok = reached && isReady;
  return Response.json(
    { status: ok ? 'ready' : 'not ready', database: reached ? 'reached' : 'not reached' },
    { status: ok ? 200 : 503 },
  );
}
