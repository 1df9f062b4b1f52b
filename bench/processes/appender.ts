/** Appends events to a project's log as the gateway does, without a caller or a provider, and reports the rate. */

import { openDatabase } from '../../src/database/open/open-database.ts';
import {
  EVENT_COLUMNS,
  EVENT_CTES,
  type EventRow,
} from '../../src/database/statements/hot/append-events.ts';
import type { SharedStatement } from '../../src/database/statements/hot/shared-statements.ts';
import { notificationsSql } from '../../src/database/transactions/notification-channels.ts';
import { createEventRow } from '../../src/events/record.ts';
import { createLog } from '../../src/kernel/log.ts';
import { readConfig } from '../../src/settings/config.ts';

export interface AppendRequest {
  projectId: string;
  callers: number;
  seconds: number;
}

export interface AppendResult {
  count: number;
  /** Latency from the call to the commit. */
  latenciesMs: number[];
  cpuMs: number;
}

/** The statement, which the gateway composes in the same way for every change with events. */
const APPEND: SharedStatement<EventRow, object> = {
  getQueue: ({ projectId }) => projectId,
  getKey: ({ eventId }) => eventId,
  text: `
    with new_events as (select * from jsonb_to_recordset($1::jsonb) as event(${EVENT_COLUMNS})),
    ${EVENT_CTES}
    select "id" as "key", ${notificationsSql('event_notifications')} from appended_events`,
};

await using database = await openDatabase(readConfig(process.env), createLog('error'));
process.on('message', async (request: AppendRequest) => {
  const { user, system } = process.cpuUsage();
  const latenciesMs: number[] = [];
  const endMs = performance.now() + request.seconds * 1_000;
  const callRepeatedly = async () => {
    while (performance.now() < endMs) {
      const startMs = performance.now();
      const row = await database.runShared(APPEND, createConnectionEvent(request.projectId));
      if (row === null) throw new Error('An event was not stored.');
      latenciesMs.push(performance.now() - startMs);
    }
  };
  await Promise.all(Array.from({ length: request.callers }, callRepeatedly));
  const endUsage = process.cpuUsage();
  const cpuMs = (endUsage.user - user + endUsage.system - system) / 1_000;
  process.send?.({ count: latenciesMs.length, latenciesMs, cpuMs } satisfies AppendResult);
});
process.send?.('ready');
await new Promise((resolve) => process.on('disconnect', resolve));

function createConnectionEvent(projectId: string): EventRow {
  const group = { groupRef: 'group', groupName: 'Group' };
  const consumer = { consumerRef: 'consumer', consumerName: 'Consumer' };
  const connection = { projectId, provider: 'sandbox', connectionId: 'con_bench' };
  const data = { ...connection, ...group, ...consumer };
  return createEventRow({ projectId, eventType: 'CONNECTION_CREATED', data, subject: null });
}
