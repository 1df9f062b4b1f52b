/** Tests that only some files name the engine of a cluster, write SQL or import a driver. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '..', '..', 'src');
const files = globSync('**/*.ts', { cwd: src })
  .filter((file) => !file.includes('generated'))
  .toSorted();
const readText = (file: string) => readFileSync(join(src, file), 'utf8');

const sourcesOutside = files.filter((file) => !file.startsWith('database/'));

const isInCluster = (file: string) => file.startsWith('database/cluster/');

test('only database/cluster/ names Citus', () => {
  const filesNamingCitus = files.filter((file) => /citus/i.test(readText(file)));
  expect(filesNamingCitus.filter((file) => !isInCluster(file))).toEqual([]);
});

test('other folders import only cluster.ts of database/cluster/', () => {
  const imported = files
    .filter((file) => !isInCluster(file))
    .flatMap((file) => [...readText(file).matchAll(/from '[^']*cluster\/([\w-]+\.ts)'/g)])
    .map(([, file]) => file);
  expect([...new Set(imported)]).toEqual(['cluster.ts']);
});

/** The packages that open connections, and Kysely, which writes SQL. */
const DRIVER =
  /from '(?:pg|postgres|@prisma\/adapter-pg|@electric-sql\/pglite|kysely|libpg-query)'/;

test('only the database layer imports a driver', () => {
  const importers = files.filter((file) => DRIVER.test(readText(file)));
  expect(importers.filter((file) => !file.startsWith('database/'))).toEqual([]);
});

test('other folders run declared statements, and no SQL of Prisma', () => {
  const rawSql = /\$(?:query|execute)Raw\w*[<(`]|\bPrisma\.(?:sql|raw|join)\b/;
  const files = sourcesOutside.filter((file) => rawSql.test(readText(file)));
  expect(files).toEqual([]);
});

/** Matches a text that begins with a statement. Parts of statements have other beginnings. */
const SQL =
  /[`'"(]\s*(?:\$\{\w+\}\s*)?(?:\/\*.*?\*\/\s*)?(?:select\s+(?:distinct\s+)?["*\w(]|with\s+(?:recursive\s+)?["\w${]+\s+as\b|insert\s+into\s+["$]|update\s+["$]\S+\s+(?:\w+\s+)?set\b|delete\s+from\s+["$])/;

/** Files outside of the database layer that write SQL. Add no file: ordinary reads and changes use Prisma Client. */
const SQL_FILES = [
  // It reads a database that it must not migrate.
  'backup/copied-tables.ts',
  'backup/database-copy.ts',
  'backup/load-copy.ts',
  'backup/suspend-pending-work.ts',
  'commands/stored-documents.ts',
  'deliveries/outbox.ts',
  'deliveries/record-attempts.ts',
  'domain/access/origins.ts',
  'domain/access/paging/search.ts',
  'domain/access/viewer/admission.ts',
  'domain/access/viewer/end-users.ts',
  'domain/access/viewer/key/api-key-value.ts',
  'domain/access/viewer/token/jwt-claims.ts',
  'domain/connections/diagnosis/setup-failure.ts',
  'domain/data/operation/read/schedule.ts',
  'domain/data/operation/write/write-task.ts',
  'domain/data/provider-event/deliver-provider-events.ts',
  'domain/data/provider-event/event-backlog.ts',
  'domain/data/provider-event/object-subscription.ts',
  'domain/data/provider-event/receive-events.ts',
  'domain/data/provider-event/remove-subscription.ts',
  'domain/data/provider-event/stream/list-webhook.ts',
  'domain/data/provider-event/stream/provider-stream-state.ts',
  'domain/data/provider-event/subscription-secret.ts',
  'domain/data/schema-watch/schema-watch.ts',
  'domain/events/delivery-backlog.ts',
  'domain/events/delivery.ts',
  'domain/events/dropped-deliveries.ts',
  'domain/events/payload.ts',
  'domain/events/retry-deliveries.ts',
  'domain/events/stream/stream-removal.ts',
  'domain/integrations/installation/installation-list.ts',
  'domain/integrations/installation/installed-object.ts',
  'domain/integrations/installation/rows-of-installations.ts',
  'domain/overview/activity-deltas.ts',
  'domain/overview/activity-series.ts',
  'domain/tenants/keys/re-encryption.ts',
  'domain/tenants/org/claimed-domain.ts',
  'domain/upkeep/continue-erasure.ts',
  'domain/upkeep/erase-rows.ts',
  'domain/upkeep/erased-subjects.ts',
  'domain/upkeep/retention.ts',
  'events/enqueue-messages.ts',
  'events/stream-log.ts',
  'jobs/due-alarm.ts',
  'metrics/gauges.ts',
  'server/sandbox.ts',
];

test('only listed files outside of the database layer write SQL', () => {
  const filesWithSql = files.filter((file) => SQL.test(readText(file)));
  const outside = filesWithSql.filter((file) => !file.startsWith('database/'));
  expect(outside.toSorted()).toEqual(SQL_FILES);
});

test('docs/architecture.md says what each hot statement saves', () => {
  const table = readFileSync(join(src, '..', 'docs', 'architecture.md'), 'utf8');
  const documented = [...table.matchAll(/^\|.*`(hot\/[\w-]+\.ts)`.*\d\.\d \|$/gm)].map(
    ([, file]) => file,
  );
  const hot = files
    .filter((file) => file.startsWith('database/statements/hot/'))
    .map((file) => file.slice('database/statements/'.length))
    .filter((file) => file !== 'hot/shared-statements.ts');
  expect(documented.toSorted()).toEqual(hot);
});
