/** Tests that only some files name the engine of a cluster, write SQL or import a driver. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '..', '..', 'src');
const files = globSync('**/*.ts', { cwd: src })
  .filter((file) => !file.includes('generated'))
  .toSorted();
const readText = (file: string) => readFileSync(join(src, file), 'utf8');

test('only database/citus/ and cluster.ts name Citus', () => {
  const filesNamingCitus = files.filter((file) => /citus/i.test(readText(file)));
  expect(filesNamingCitus.filter((file) => !file.startsWith('database/citus/'))).toEqual([
    'database/cluster.ts',
  ]);
});

test('only cluster.ts imports database/citus/', () => {
  const importers = files.filter((file) => /from '[^']*citus\//.test(readText(file)));
  expect(importers).toEqual(['database/cluster.ts']);
});

/** The packages that open connections, and Kysely, which writes SQL. */
const DRIVER =
  /from '(?:pg|postgres|@prisma\/adapter-pg|@electric-sql\/pglite|kysely|libpg-query)'/;

test('only the database layer imports a driver', () => {
  const importers = files.filter((file) => DRIVER.test(readText(file)));
  expect(importers.filter((file) => !file.startsWith('database/'))).toEqual([]);
});

/** Matches a text that begins with a statement. Parts of statements have other beginnings. */
const SQL =
  /[`'"(]\s*(?:\$\{\w+\}\s*)?(?:\/\*.*?\*\/\s*)?(?:select\s+(?:distinct\s+)?["*\w(]|with\s+(?:recursive\s+)?["\w${]+\s+as\b|insert\s+into\s+["$]|update\s+["$]\S+\s+(?:\w+\s+)?set\b|delete\s+from\s+["$])/;

/** Files outside of the database layer that write SQL. Add no file: ordinary reads and changes use Prisma Client. */
const SQL_FILES = [
  'copies/copy.ts',
  'copies/load-copy.ts',
  'copies/suspend-pending-work.ts',
  'copies/tables.ts',
  'deliveries/outbox.ts',
  'deliveries/record-attempts.ts',
  'domain/activity/activity-deltas.ts',
  'domain/activity/activity-series.ts',
  'domain/connection/connection-refresh.ts',
  'domain/diagnosis/setup-failure.ts',
  'domain/erasure/continue-erasure.ts',
  'domain/erasure/erase-rows.ts',
  'domain/erasure/erased-subjects.ts',
  'domain/event/delivery-backlog.ts',
  'domain/event/delivery.ts',
  'domain/event/dropped-deliveries.ts',
  'domain/event/payload.ts',
  'domain/event/retry-deliveries.ts',
  'domain/event/stream/stream-removal.ts',
  'domain/installation/installation-list.ts',
  'domain/installation/installed-object.ts',
  'domain/installation/rows-of-installations.ts',
  'domain/keys/plain-targets.ts',
  'domain/keys/re-encryption.ts',
  'domain/operation/read/schedule.ts',
  'domain/operation/write/write-task.ts',
  'domain/org/claimed-domain.ts',
  'domain/paging/search.ts',
  'domain/project/origins.ts',
  'domain/provider-event/deliver-provider-events.ts',
  'domain/provider-event/event-backlog.ts',
  'domain/provider-event/object-subscription.ts',
  'domain/provider-event/receive-events.ts',
  'domain/provider-event/remove-subscription.ts',
  'domain/provider-event/stream/stream-ping.ts',
  'domain/provider-event/stream/stream-state.ts',
  'domain/provider-event/subscription-secret.ts',
  'domain/retention.ts',
  'domain/schema-watch/schema-watch.ts',
  'domain/viewer/admission.ts',
  'domain/viewer/end-users.ts',
  'domain/viewer/key/api-key-value.ts',
  'domain/viewer/token/jwt-claims.ts',
  'events/enqueue-messages.ts',
  'events/stream-log.ts',
  'jobs/due-alarm.ts',
  'metrics/state.ts',
  'server/sandbox.ts',
  'work/lease.ts',
];

test('only listed files outside of the database layer write SQL', () => {
  const filesWithSql = files.filter((file) => SQL.test(readText(file)));
  const outside = filesWithSql.filter((file) => !file.startsWith('database/'));
  expect(outside.toSorted()).toEqual(SQL_FILES);
});
