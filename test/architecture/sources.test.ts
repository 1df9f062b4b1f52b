/**
 * Tests that some constructs are only in listed files. Time, random numbers and ids have one source each, so that tests
 * can replace the source and processes agree. Backoff, races and leases are implemented once, with listed exceptions.
 * Files with unchecked casts are listed.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '..', '..', 'src');
const files = globSync('**/*.ts', { cwd: src }).filter((file) => !file.includes('generated'));

/** The files that contain each construct. All other files use the services, src/kernel/ids.ts or src/work/. */
const SOURCES = [
  {
    subject: 'the clock of the process',
    pattern: /\bDate\.now\b|\bnew Date\(\)|(?<!new )\bDate\(\)/,
    // A log line has the time of its process. Commands and the sandbox's server are programs of their own. Bearer tokens
    // are checked by the clock that jose uses for their expiry.
    allowed: [
      'commands/receive.ts',
      'domain/access/viewer/bearer.ts',
      'kernel/log.ts',
      'sandbox/server.ts',
    ],
  },
  {
    subject: 'random numbers',
    pattern: /\bMath\.random\b/,
    allowed: ['start/services.ts', 'work/backoff.ts'],
  },
  { subject: 'new ids', pattern: /\btypeidUnboxed\b/, allowed: ['kernel/ids.ts'] },
  {
    subject: 'the delay of a backoff',
    pattern: /\b2 \*\* \(?[a-z]/i,
    // The sandbox's server is a program of its own.
    allowed: ['sandbox/webhooks/webhook-subscriptions.ts', 'work/backoff.ts'],
  },
  {
    subject: 'a race of promises',
    pattern: /\bPromise\.race\b/,
    // The engine of the embedded database waits without a time limit, until it responds or ends.
    allowed: ['database/connect/embedded/engine.ts', 'work/backoff.ts', 'work/deadline.ts'],
  },
  {
    subject: 'the end of a lease',
    pattern: /\bclock_timestamp\(\) \+ /,
    allowed: ['database/leases/lease.ts'],
  },
];

test.each(SOURCES)('only listed files contain $subject', ({ pattern, allowed }) => {
  const users = files.filter((file) => pattern.test(readFileSync(join(src, file), 'utf8')));
  expect(users.toSorted()).toEqual(allowed.toSorted());
});

/** Files that need casts: they work with drivers, build the schema, or handle rows of any table. */
const CASTING_FILES = [
  'database/cluster/routed-session.ts',
  'database/connect/sessions/database-session.ts',
  'database/connect/sessions/described-once.ts',
  'database/connect/sessions/read-bursts.ts',
  'database/connect/sessions/session-pool.ts',
  'database/statements/reads/list-statement.ts',
  'domain/access/paging/page-of-rows.ts',
  'domain/access/scope.ts',
  'graphql/overview/look-ups.ts',
  'graphql/schema/fields.ts',
  'graphql/schema/inputs.ts',
  'graphql/schema/lists.ts',
  'graphql/schema/object-type.ts',
  'jobs/leased-work.ts',
  'providers/salesforce/pubsub/change-stream.ts',
  'rest/endpoint/resource-endpoints.ts',
  'rest/events/delivery.ts',
  'server/graphql/result-stream.ts',
];

test('only listed files cast types without a check', () => {
  const cast = /(?<!is )\bas (?:never|unknown as)\b/;
  const users = files.filter((file) => cast.test(readFileSync(join(src, file), 'utf8')));
  expect(users.toSorted()).toEqual(CASTING_FILES);
});
