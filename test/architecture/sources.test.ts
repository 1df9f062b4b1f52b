/**
 * What may stand in few places only. Time, chance and ids have one source each, so that tests can replace them and
 * processes agree; what all work shares is written once; and what a type says is true.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '..', '..', 'src');
const files = globSync('**/*.ts', { cwd: src }).filter((file) => !file.includes('generated'));

/** What may stand where: everything else takes it from the services, from src/ids.ts or from src/work/. */
const SOURCES = [
  {
    what: 'the clock of the process',
    pattern: /\bDate\.now\b|\bnew Date\(\)|(?<!new )\bDate\(\)/,
    // The embedded database has the clock of its process. A log line says when it was
    // written, as those of other programs do. Commands and the built-in provider's server are other programs.
    allowed: ['commands/receive.ts', 'log.ts', 'sandbox/server.ts'],
  },
  { what: 'chance', pattern: /\bMath\.random\b/, allowed: ['services.ts', 'work/backoff.ts'] },
  { what: 'ids', pattern: /\btypeidUnboxed\b/, allowed: ['ids.ts'] },
  {
    what: 'the wait of a backoff',
    pattern: /\b2 \*\* \(?[a-z]/i,
    // The built-in provider's server is another program.
    allowed: ['sandbox/webhooks/webhook-subscriptions.ts', 'work/backoff.ts'],
  },
  {
    what: 'a wait that something else may end',
    pattern: /\bPromise\.race\b/,
    // The embedded database waits for an answer or its end, without a time limit.
    allowed: ['database/embedded/engine.ts', 'work/backoff.ts', 'work/deadline.ts'],
  },
  {
    what: 'the end of a lease',
    pattern: /\bclock_timestamp\(\) \+ /,
    allowed: ['work/lease.ts'],
  },
];

test.each(SOURCES)('$what has one source', ({ pattern, allowed }) => {
  const users = files.filter((file) => pattern.test(readFileSync(join(src, file), 'utf8')));
  expect(users.toSorted()).toEqual(allowed.toSorted());
});

/** Where drivers, the schema's builder or code for any table leave no other way to say a type. */
const CASTING = [
  'database/citus/routed-session.ts',
  'database/citus/statement-plan.ts',
  'database/reads/list-statement.ts',
  'database/reads/read-bursts.ts',
  'database/sessions/described-once.ts',
  'database/sessions/session-pool.ts',
  'database/sessions/session.ts',
  'domain/paging/page-of-rows.ts',
  'domain/scope.ts',
  'graphql/project/look-ups.ts',
  'graphql/schema/fields.ts',
  'graphql/schema/inputs.ts',
  'providers/salesforce/pubsub/change-stream.ts',
  'rest/endpoint/time-parameters.ts',
  'rest/endpoint/wire-form.ts',
  'server/graphql/use-event-stream.ts',
];

test('a value is given a type without a check only where nothing else is possible', () => {
  const cast = /(?<!is )\bas (?:never|unknown as)\b/;
  const users = files.filter((file) => cast.test(readFileSync(join(src, file), 'utf8')));
  expect(users.toSorted()).toEqual(CASTING);
});
