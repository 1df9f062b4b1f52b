/**
 * The read layer hides rows of groups and consumers that are being erased. Other reads of their tables must not show
 * such rows to callers, so each file with such a read has a reason here.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Prisma } from '../../src/database/generated/client.ts';

/** Files whose reads may return hidden rows, by the reason why no caller sees them. */
const READING_FILES = {
  'are background work, which ends before the rows are deleted': [
    'database/statements/hot/end-operations.ts',
    'deliveries/outbox.ts',
    'domain/connection/connection-refresh.ts',
    'domain/connection/connection-status.ts',
    'domain/connection/session/stored-credentials.ts',
    'domain/connection/token/token-commit.ts',
    'domain/erasure/continue-erasure.ts',
    'domain/erasure/erase-rows.ts',
    'domain/event/stream/stream-removal.ts',
    'domain/operation/operation-work.ts',
    'domain/operation/read/read-end.ts',
    'domain/operation/read/schedule.ts',
    'domain/provider-event/remove-subscription.ts',
    'domain/provider-event/stream/follow-stream.ts',
    'domain/provider-event/stream/missed-changes.ts',
    'domain/provider-event/subscribe-log.ts',
    'domain/provider-event/subscription-parties.ts',
    'domain/retention.ts',
    'domain/schema-watch/schema-watch.ts',
    'events/enqueue-messages.ts',
    'events/stream-log.ts',
  ],
  'read more of rows that the caller has read through the read layer or has just stored': [
    'database/statements/hot/renew-connections.ts',
    'domain/agent/agent-records.ts',
    'domain/connection/credentials.ts',
    'domain/event/delivery.ts',
    'domain/event/payload.ts',
    'domain/event/test-message.ts',
    'domain/installation/check/installation-config-check.ts',
    'domain/installation/installation-list.ts',
    'domain/installation/installation-rows.ts',
    'domain/installation/rows-of-installations.ts',
    'domain/operation/object-installation.ts',
    'domain/operation/read/source.ts',
    'domain/operation/write/write-start.ts',
    'domain/proposal/commit-proposal.ts',
    'domain/proposal/create-proposal.ts',
    'domain/proposal/decide-proposal.ts',
  ],
  'exclude hidden rows themselves': [
    'database/statements/hot/attention-items.ts',
    'database/statements/hot/write-target.ts',
    'domain/connection/connection-of-group.ts',
    'domain/installation/check/revision-impacts.ts',
    'domain/installation/installation-parties.ts',
    'domain/installation/installed-object-revision.ts',
    'domain/viewer/end-users.ts',
    'domain/viewer/visible-rows.ts',
  ],
  'find rows by a ref, which an erasure replaces': [
    'domain/connection/consent/oauth-link.ts',
    'domain/connection/consent/store-consent.ts',
    'domain/connection/oauth-connect-check.ts',
  ],
  'return only whether rows exist, or how many': [
    'domain/event/delivery-backlog.ts',
    'domain/event/retry-deliveries.ts',
    'domain/integration/integration-deletion.ts',
    'domain/provider/provider-app.ts',
    'metrics/state.ts',
  ],
  'read the session of a token, whose parties are checked afterwards': [
    'domain/viewer/token/agent-token.ts',
  ],
  'create the demo': ['database/statements/past-rows.ts', 'demo/fill.ts', 'demo/history.ts'],
};

const HIDDEN_TABLES = Object.values(Prisma.ModelName).filter((table) => {
  const columns = Object.keys(Prisma[`${table}ScalarFieldEnum`]);
  const isParty = table === 'Group' || table === 'Consumer';
  return isParty || columns.includes('groupId') || columns.includes('consumerId');
});

const tables = HIDDEN_TABLES.join('|');
const clients = HIDDEN_TABLES.map((table) => table[0]?.toLowerCase() + table.slice(1)).join('|');
const READS = [
  new RegExp(`\\.(?:${clients})\\.(?:find\\w*|count|aggregate|groupBy)\\(`),
  new RegExp(`(?:selectFrom|[jJ]oin)\\(\\s*'(?:${tables})\\b`),
  new RegExp(`\\b(?:from|join) "(?:${tables})"`),
];

test('only listed files read tables with hidden rows outside the read layer', () => {
  const src = join(import.meta.dirname, '..', '..', 'src');
  const files = globSync('**/*.ts', { cwd: src }).filter((file) => {
    const text = readFileSync(join(src, file), 'utf8');
    return !file.includes('generated') && READS.some((read) => read.test(text));
  });
  expect(HIDDEN_TABLES).toContain('Installation');
  expect(files.toSorted()).toEqual(Object.values(READING_FILES).flat().toSorted());
});
