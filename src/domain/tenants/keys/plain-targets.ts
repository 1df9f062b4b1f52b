import { readRowsOfAllProjects } from '../../../database/statements/projects/rows-of-all-projects.ts';
import { type RunStatement, sqlStatement } from '../../../database/statements/statements.ts';
import {
  isMasked,
  maskUrl,
  sealHeaders,
  sealUrl,
  type TargetHeaders,
} from '../../../deliveries/target-secrets.ts';
import type { Vault } from '../../../kernel/secrets.ts';

interface PlainDestination {
  id: string;
  projectId: string;
  url: string | null;
  maskedHeaders: TargetHeaders | null;
}

/**
 * Encrypts URLs and headers of destinations that an earlier version stored in plain text. Returns the number of changed
 * columns. Safe in parallel with other processes and after a crash: a row is changed only if it still contains the same
 * plain values.
 */
export async function sealPlainTargets(run: RunStatement, vault: Vault): Promise<number> {
  const destinations = readRowsOfAllProjects<PlainDestination>(run, {
    reason: 'destinations of every project are sealed',
    table: 'Destination',
    columns: '"url", "maskedHeaders"',
    condition: `("url" like '%?%' or "maskedHeaders" is not null)`,
  });
  let changedColumns = 0;
  for await (const destination of destinations) {
    changedColumns += await sealTarget(run, vault, destination);
  }
  return changedColumns;
}

const SEAL_URL = sqlStatement(`
  update "Destination" set "url" = $1, "urlSealed" = $2
  where "projectId" = $3 and "id" = $4 and "url" = $5 returning 1`);
const SEAL_HEADERS = sqlStatement(`
  update "Destination" set "maskedHeaders" = $1::jsonb, "headersSealed" = $2
  where "projectId" = $3 and "id" = $4 and "maskedHeaders" = $5::jsonb returning 1`);

async function sealTarget(
  run: RunStatement,
  vault: Vault,
  destination: PlainDestination,
): Promise<number> {
  const { id, projectId, url, maskedHeaders: plainHeaders } = destination;
  let changedColumns = 0;
  if (url !== null && maskUrl(url) !== url) {
    const { url: maskedUrl, urlSealed } = sealUrl(vault, destination, url);
    const changedRows = await run(SEAL_URL, [maskedUrl, urlSealed, projectId, id, url]);
    changedColumns += changedRows.length;
  }
  if (plainHeaders && !isMasked(plainHeaders)) {
    const { maskedHeaders, headersSealed } = sealHeaders(vault, destination, plainHeaders);
    const changedRows = await run(SEAL_HEADERS, [
      JSON.stringify(maskedHeaders),
      headersSealed,
      projectId,
      id,
      JSON.stringify(plainHeaders),
    ]);
    changedColumns += changedRows.length;
  }
  return changedColumns;
}
