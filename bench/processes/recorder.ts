/** Records events on request in a separate process, as the gateway's domain does. */

import { openDatabase } from '../../src/database/open/open-database.ts';
import { inTransaction } from '../../src/database/transactions/transaction.ts';
import { recordEvent } from '../../src/events/record.ts';
import { createLog } from '../../src/kernel/log.ts';
import { readConfig } from '../../src/settings/config.ts';
import { queryRows } from '../../test/support/database/query.ts';

export interface RecordRequest {
  projectId: string;
  /** The number of events, which one transaction records. */
  count: number;
  /**
   * True if this process sends the notification after the commit. Peers other than the gateway need it, because the
   * gateway's code sends notifications only if processes of the gateway listen.
   */
  notifies: boolean;
}

const database = await openDatabase(readConfig(process.env), createLog('error'));

/** Creates an event whose consumer's name is the time, so that a subscriber can compute the age of the event. */
function createConnectionEvent(projectId: string) {
  const consumerName = String(performance.timeOrigin + performance.now());
  const refs = { groupRef: 'group-1', consumerRef: 'consumer-1', consumerName };
  return { projectId, connectionId: 'con_1', provider: 'hubspot', ...refs };
}

process.on('message', async ({ projectId, count, notifies }: RecordRequest) => {
  const committedMs = await inTransaction(database, async (tx) => {
    for (let recorded = 0; recorded < count; recorded += 1) {
      const data = createConnectionEvent(projectId);
      await recordEvent(tx, { projectId, eventType: 'CONNECTION_CREATED', subject: null, data });
    }
    return performance.timeOrigin + performance.now();
  });
  if (notifies) {
    await queryRows(database, `select pg_notify('gateway_events', $1)::text`, [projectId]);
  }
  process.send?.(committedMs);
});
process.on('disconnect', async () => {
  await database[Symbol.asyncDispose]();
  process.exit(0);
});
process.send?.('ready');
