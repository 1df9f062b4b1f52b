import { Prisma } from '../../database/generated/client.ts';
import { readRowsOfAllProjects } from '../../database/projects/rows-of-all-projects.ts';
import type { RunQuery } from '../../database/rows.ts';
import type { Vault } from '../../secrets.ts';

interface SealedRow {
  id: string;
  projectId: string;
  sealed: string;
}

/** Lists the columns with encrypted values. Their names end in `Sealed`. */
export function listSealedColumns(): { table: Prisma.ModelName; column: string }[] {
  return Object.values(Prisma.ModelName).flatMap((table) =>
    Object.values<string>(Prisma[`${table}ScalarFieldEnum`])
      .filter((column) => column.endsWith('Sealed'))
      .map((column) => ({ table, column })),
  );
}

/**
 * Encrypts every secret with the current key, so that older keys can be removed. Returns the number of changed secrets.
 * Safe while the server runs and after a crash: it skips values that use the current key or that changed after they
 * were read.
 */
export async function reencrypt(query: RunQuery, vault: Vault): Promise<number> {
  let changedCount = 0;
  for (const { table, column } of listSealedColumns()) {
    const sealedRows = readRowsOfAllProjects<SealedRow>(query, {
      reason: 'secrets of every project are encrypted again',
      table,
      columns: `"${column}" as sealed`,
      condition: `"${column}" is not null`,
    });
    for await (const { id, projectId, sealed } of sealedRows) {
      if (vault.isCurrent(sealed)) continue;
      const location = { table, column, row: id, projectId };
      await query(
        `update "${table}" set "${column}" = $1
         where "projectId" = $2 and "id" = $3 and "${column}" = $4`,
        [vault.seal(vault.open(sealed, location), location), projectId, id, sealed],
      );
      changedCount += 1;
    }
  }
  return changedCount;
}
