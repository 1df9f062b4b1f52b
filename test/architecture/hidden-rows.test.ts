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
    'domain/connections/connection/connection-status.ts',
    'domain/connections/connection/session/stored-credentials.ts',
    'domain/connections/connection/token/token-commit.ts',
    'domain/upkeep/continue-erasure.ts',
    'domain/upkeep/erase-rows.ts',
    'domain/events/stream/stream-removal.ts',
    'domain/data/operation/operation-work.ts',
    'domain/data/operation/read/read-end.ts',
    'domain/data/operation/read/schedule.ts',
    'domain/data/provider-event/remove-subscription.ts',
    'domain/data/provider-event/stream/follow-provider-stream.ts',
    'domain/data/provider-event/stream/missed-record-changes.ts',
    'domain/data/provider-event/subscribe-log.ts',
    'domain/data/provider-event/subscription-parties.ts',
    'domain/upkeep/retention.ts',
    'domain/data/schema-watch/schema-watch.ts',
    'events/enqueue-messages.ts',
    'events/stream-log.ts',
  ],
  'read more of rows that the caller has read through the read layer or has just stored': [
    'database/statements/hot/renew-connections.ts',
    'domain/agents/agent-records.ts',
    'domain/connections/connection/connection-credentials.ts',
    'domain/events/delivery.ts',
    'domain/events/payload.ts',
    'domain/events/test-message.ts',
    'domain/integrations/installation/check/installation-config-check.ts',
    'domain/integrations/installation/installation-list.ts',
    'domain/integrations/installation/installation-rows.ts',
    'domain/integrations/installation/rows-of-installations.ts',
    'domain/data/operation/object-installation.ts',
    'domain/data/operation/read/read-source.ts',
    'domain/data/operation/write/write-start.ts',
    'domain/agents/commit-proposal.ts',
    'domain/agents/create-proposal.ts',
    'domain/agents/decide-proposal.ts',
  ],
  'exclude hidden rows themselves': [
    'database/statements/attention-items.ts',
    'database/statements/hot/write-target.ts',
    'domain/connections/connection/connection-of-group.ts',
    'domain/integrations/custom-provider/suspended-connections.ts',
    'domain/integrations/installation/check/revision-impacts.ts',
    'domain/integrations/installation/installation-parties.ts',
    'domain/integrations/installation/installed-object-revision.ts',
    'domain/access/viewer/end-users.ts',
    'domain/access/viewer/visible-rows.ts',
  ],
  'find rows by a ref, which an erasure replaces': [
    'domain/connections/connection/consent/oauth-link.ts',
    'domain/connections/connection/consent/store-consent.ts',
    'domain/connections/connection/oauth-connect-check.ts',
  ],
  'return only whether rows exist, or how many': [
    'domain/events/delivery-backlog.ts',
    'domain/events/retry-deliveries.ts',
    'domain/integrations/integration/integration-deletion.ts',
    'domain/connections/provider/provider-app.ts',
    'domain/integrations/custom-provider/custom-provider-document.ts',
    'domain/integrations/custom-provider/custom-provider.ts',
    'domain/integrations/custom-provider/provider-impacts.ts',
    'metrics/gauges.ts',
  ],
  'read the session of a token, whose parties are checked afterwards': [
    'domain/access/viewer/token/agent-token.ts',
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
