/** Checks the stored documents of custom providers before this version of the gateway starts with them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isPostgres, openCopySource } from '../backup/source-and-target.ts';
import { DATABASE_FOLDER } from '../database/connect/embedded/data-folder.ts';
import type { OpenDatabaseSession } from '../database/connect/sessions/database-session.ts';
import type { Row } from '../database/statements/tables.ts';
import { compileProvider } from '../domain/connections/provider/compiled-provider.ts';
import { createLog } from '../kernel/log.ts';
import type { Config } from '../settings/config.ts';
import { getDatabaseLocation } from './run-command.ts';

/** The number of documents that are in memory at the same time. */
const BATCH_SIZE = 50;

type StoredDocument = Row<'CustomProvider'> & { projectName: string };

/** Lists the documents that this version can't use, each with its project and the reason. It does not migrate the database. */
export async function listUnusableDocuments(config: Config): Promise<string[]> {
  const location = getDatabaseLocation(config);
  const isNew = !isPostgres(location) && !existsSync(join(location, DATABASE_FOLDER));
  if (isNew) return [];
  await using source = await openCopySource(location, createLog('silent'));
  return await source.inSession(async (session) => {
    const lines: string[] = [];
    for await (const row of iterateDocuments(session)) {
      const compiled = compileProvider(row);
      if ('provider' in compiled) continue;
      lines.push(`Project ${row.projectName}, provider ${row.name}: ${compiled.problem}`);
    }
    return lines;
  });
}

async function* iterateDocuments(session: OpenDatabaseSession): AsyncGenerator<StoredDocument> {
  const [table] = await query<{ exists: boolean }>(
    session,
    `select to_regclass('"CustomProvider"') is not null as "exists"`,
  );
  // The table is missing before the first start.
  if (!table?.exists) return;
  let after = ['', ''];
  let count: number;
  do {
    const rows = await query<StoredDocument>(
      session,
      `select c.*, p."name" as "projectName" from "CustomProvider" c
       join "Project" p on p."id" = c."projectId"
       where (c."projectId", c."id") > ($1, $2)
       order by c."projectId", c."id" limit ${BATCH_SIZE}`,
      after,
    );
    yield* rows;
    const last = rows.at(-1);
    if (last) after = [last.projectId, last.id];
    count = rows.length;
  } while (count === BATCH_SIZE);
}

async function query<R>(
  session: OpenDatabaseSession,
  text: string,
  values: readonly string[] = [],
): Promise<R[]> {
  return (await session.query(text, [...values])).rows as R[];
}
