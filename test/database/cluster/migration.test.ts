/** Starts a later version of the gateway on a database whose tables are distributed over the nodes of a cluster. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { Outages } from '../../../src/database/connect/outages.ts';
import { listMigrations, migrate } from '../../../src/database/migrate/migrate.ts';
import { openDatabase } from '../../../src/database/open/open-database.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { readConfig } from '../../../src/settings/config.ts';
import { createTestApp, onCitus } from '../../support/app.ts';
import { withServer } from '../../support/database/cluster/cluster-template.ts';
import { acquirePostgres } from '../../support/database/postgres-databases.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';

/** A statement of every kind that migrations use: types, tables, columns, indexes, triggers and changed rows. */
const NOTES_SQL = `
-- A comment; with one.
CREATE TYPE "NoteKind" AS ENUM ('PLAIN', 'LOUD');
CREATE TABLE "Note" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "id" TEXT COLLATE "C" NOT NULL,
  "groupId" TEXT COLLATE "C" NOT NULL,
  "kind" "NoteKind" NOT NULL DEFAULT 'PLAIN',
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "Note_pkey" PRIMARY KEY ("projectId", "id")
);
CREATE TABLE "Reader" ("id" TEXT COLLATE "C" NOT NULL, CONSTRAINT "Reader_pkey" PRIMARY KEY ("id"));
CREATE UNIQUE INDEX "Note_projectId_groupId_key" ON "Note"("projectId", "groupId");
ALTER TABLE "Note" ADD CONSTRAINT "Note_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId")
  REFERENCES "Group"("projectId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;
ALTER TABLE "Note" ADD CONSTRAINT "Note_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE RESTRICT;
ALTER TABLE "Group" ADD COLUMN "notes" INTEGER NOT NULL DEFAULT 0, ADD COLUMN "motto" TEXT;
UPDATE "Group" SET "motto" = 'of ' || "groupRef";
ALTER TABLE "Group" ALTER COLUMN "motto" SET NOT NULL;
ALTER TABLE "Group" ALTER COLUMN "motto" SET DEFAULT '';
CREATE INDEX "Group_projectId_motto_idx" ON "Group"("projectId", "motto");
INSERT INTO "Note" ("projectId", "id", "groupId") SELECT "projectId", 'note_' || "id", "id" FROM "Group";
UPDATE "Group" g SET "notes" = 1 FROM "Note" n WHERE n."projectId" = g."projectId" AND n."groupId" = g."id";
CREATE FUNCTION "count_notes"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "Group" SET "notes" = "notes" + 1 WHERE "projectId" = NEW."projectId" AND "id" = NEW."groupId";
  RETURN NULL;
END $$;
CREATE TRIGGER "count_notes" AFTER UPDATE ON "Note" FOR EACH ROW EXECUTE FUNCTION "count_notes"();
ALTER TABLE "Org" ADD COLUMN "motto" TEXT;
ALTER TABLE "Group" RENAME COLUMN "motto" TO "words";
DROP INDEX "Group_projectId_motto_idx";
`;

const ENUM_SQL = `ALTER TYPE "NoteKind" ADD VALUE 'SILENT';`;

/** Replaces the function by one with another body and another type of its rows, as an earlier version might have it. */
const OUTDATED_FUNCTION = `
  drop function "gateway_on_shards"(text, boolean, text);
  create function "gateway_on_shards"("key" text, "isWholeNode" boolean, "statement" text) returns setof text
    language plpgsql as $$ begin raise exception 'This function is outdated.'; end $$;
  select create_distributed_function('gateway_on_shards(text,boolean,text)', '$1', colocate_with => '"EventLog"')`;

const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');

const createMigration = (name: string, sql: string) => ({
  name,
  sql,
  checksum: createHash('sha256').update(sql).digest('hex'),
});

test.skipIf(!onCitus)('distributes new tables and changes rows on all nodes', async () => {
  await using lent = await acquirePostgres();
  const config = readConfig({ ...lent.env, ENCRYPTION_KEY });
  const url = config.DATABASE_URL?.reveal() ?? '';
  const groupIds: string[] = [];
  {
    const database = await openDatabase(config, createLog('silent'));
    await using app = await createTestApp({ env: { ENCRYPTION_KEY }, database });
    for (let count = 0; count < 4; count += 1) {
      groupIds.push((await generateConnection(await app.createTenant())).group.id);
    }
  }

  using outages = new Outages(createLog('silent'));
  const server = { address: { connectionString: url }, outages, limitMs: 60_000 };
  const migrations = [
    ...listMigrations(),
    createMigration('29990101000000_notes', NOTES_SQL),
    createMigration('29990102000000_more_notes', ENUM_SQL),
  ];
  const result = await migrate(server, createLog('silent'), { migrations });
  expect(result).toEqual({ isNew: false, isDistributed: true });

  await withServer(url, async (client) => {
    const query = async (text: string) => (await client.query(text)).rows;
    const placements = await query(
      `select table_name::text as "name", citus_table_type as "type" from citus_tables
       where table_name::text in ('"Note"', '"Reader"') order by 1`,
    );
    expect(placements).toEqual([{ name: '"Note"', type: 'distributed' }]);
    const readGroups = () => query(`select "id", "notes", "words" from "Group" order by "id"`);
    const createGroupRows = (notes: number) =>
      groupIds.toSorted().map((id) => ({ id, notes, words: 'of acme' }));
    expect(await readGroups()).toEqual(createGroupRows(1));
    // Prisma also casts the new enum.
    const changedNotes = await query(
      `update "Note" set "kind" = 'LOUD' returning "kind"::text as "kind"`,
    );
    expect(changedNotes).toEqual(groupIds.map(() => ({ kind: 'LOUD' })));
    expect(await readGroups()).toEqual(createGroupRows(2));
    const repeatedResult = await migrate(server, createLog('silent'), { migrations });
    expect(repeatedResult.isDistributed).toBe(true);
  });

  const database = await openDatabase(config, createLog('silent'));
  await using app = await createTestApp({ env: { ENCRYPTION_KEY }, database });
  expect(await generateConnection(await app.createTenant())).toMatchObject({
    group: { groupRef: 'acme' },
  });
});

test.skipIf(!onCitus)('replaces an outdated function on all nodes', async () => {
  await using lent = await acquirePostgres();
  const config = readConfig({ ...lent.env, ENCRYPTION_KEY });
  const url = config.DATABASE_URL?.reveal() ?? '';
  await withServer(url, (client) => client.query(OUTDATED_FUNCTION));
  const database = await openDatabase(config, createLog('silent'));
  await using app = await createTestApp({ env: { ENCRYPTION_KEY }, database });
  for (let count = 0; count < 4; count += 1) {
    expect(await generateConnection(await app.createTenant())).toMatchObject({
      group: { groupRef: 'acme' },
    });
  }
});
