/** Connections of what is erased: given up at the provider, as far as it takes that, and deleted. */
import type { Services } from '../call.ts';
import { removeFromJournal } from '../connection/token/token-journal.ts';
import type { LeasedConnection } from '../connection/token/token-lease.ts';
import { revokeTokens } from '../connection/token/token-revocation.ts';
import { conditionOf } from './erase-rows.ts';
import type { ErasureKey } from './erasure.ts';

/** Each waits for its provider. */
const AT_ONCE = 20;

/** Some of them. Whether there may be more. */
export async function endConnections(services: Services, key: ErasureKey): Promise<boolean> {
  const { query } = services.database.rows;
  const { projectId } = key;
  const found = await query<LeasedConnection>(
    `select "id", "projectId", "provider", "providerAppId", "providerWorkspaceRef", "providerMetadata"
     from "Connection" where ${conditionOf(key)} limit ${AT_ONCE}`,
    [projectId, key.id],
  );
  if (found.length === 0) return false;
  await Promise.all(found.map((connection) => tryToRevoke(services, connection)));
  const ids = found.map(({ id }) => id);
  // One that was made with them meanwhile would hold them.
  await query(DELETE_INSTALLATIONS, [projectId, ids]);
  await query(DELETE_CONNECTIONS, [projectId, ids]);
  for (const connection of found) removeFromJournal(services, connection);
  return true;
}

const DELETE_INSTALLATIONS = `
  delete from "Installation" where "projectId" = $1 and "connectionId" = any($2)`;
const DELETE_CONNECTIONS = `delete from "Connection" where "projectId" = $1 and "id" = any($2)`;

/** Tried once: the erasure does not wait for a provider that fails. */
async function tryToRevoke(services: Services, connection: LeasedConnection): Promise<void> {
  const { id: connectionId, provider } = connection;
  try {
    if (!(await revokeTokens(services, connection))) return;
    services.log.info({ connectionId, provider }, 'connection.revoked');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    services.log.warn({ connectionId, provider, reason }, 'connection.revocation_failed');
  }
}
