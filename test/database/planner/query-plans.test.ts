/**
 * PostgreSQL runs frequent queries on large tables as index ranges, for every combination of filters.
 *
 * @module-tag all/rows
 */
import pg from 'pg';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import type { RunQuery } from '../../../src/database/connect/run-query.ts';
import { ROWS_OF_KIND_MAX } from '../../../src/database/statements/attention-items.ts';
import { Backlog } from '../../../src/deliveries/backlog.ts';
import { Claimer } from '../../../src/deliveries/claimer.ts';
import { createFailureEvent } from '../../../src/deliveries/delivery-worker.ts';
import { DELIVERY_LIMITS } from '../../../src/deliveries/limits.ts';
import { type ClaimedDelivery, releaseClaims } from '../../../src/deliveries/outbox.ts';
import { recordAttempts } from '../../../src/deliveries/record-attempts.ts';
import { reads, recordPage } from '../../../src/domain/data/operation/read/continue-read.ts';
import { getReadSource } from '../../../src/domain/data/operation/read/read-source.ts';
import { startDueReads } from '../../../src/domain/data/operation/read/schedule.ts';
import { writes } from '../../../src/domain/data/operation/write/write-run.ts';
import { isBacklogged } from '../../../src/domain/events/delivery-backlog.ts';
import { listDestinationUses } from '../../../src/domain/events/destination-uses.ts';
import { removeExpired } from '../../../src/domain/upkeep/retention.ts';
import {
  isRetainedAfter,
  readEvents,
  readLastPositions,
  readTopicIds,
} from '../../../src/events/event-log.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { LEASED_WORK } from '../../../src/start/start-work.ts';
import { createTestApp, onPostgres, type TestApp } from '../../support/app.ts';
import { fillProject, formatRowId } from '../../support/database/fill.ts';
import { fillOrg } from '../../support/database/filled-org.ts';
import { queryRows, toQuery } from '../../support/database/query.ts';
import { collectQueryPlans, listPlanFaults } from '../../support/database/query-plans.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { installReads, TRIGGER_READ } from '../../support/fixtures/reads.ts';
import { createContact, createWriter } from '../../support/fixtures/writes.ts';
import {
  listFilterArguments,
  listShapes,
  listStoredNodeTypes,
  selectItem,
  selectPage,
} from '../../support/fuzz/query-shapes.ts';
import { callSandbox, connectWithTokens } from '../../support/providers/oauth.ts';
import { claimDueRow, claimDueRows, runDueRows } from '../../support/work/due-work.ts';

/** Enough time to fill the tables, or to walk over all combinations of filters, on a busy machine. */
const LONG_MS = 240_000;
const FEW_ROWS = 100;
/** Projects of equal size, so that no project owns most of a table. */
const PROJECT_COUNT = 3;
const ROW_COUNTS = {
  few: FEW_ROWS,
  connections: 4_000,
  installations: 3_000,
  operations: 40_000,
  events: 20_000,
};

/** This list is empty, because the caller can join no org. */
const EMPTY_LIST = 'Viewer.joinableOrgs';

const PAGE_SIZE = 20;
/** The rows of a page, and the rows that its items need. */
const ROWS_MAX = 15 * PAGE_SIZE;
/** Some kinds of attention items read all of their rows. */
const ATTENTION_ROWS_MAX = 4 * ROWS_OF_KIND_MAX;

const FILTER_VALUES = {
  active: ['true', 'false'],
  failing: ['true', 'false'],
  provider: ['"hubspot"', '"unknown"'],
  groupRef: ['"group-1"'],
  consumerRef: ['"consumer-1"'],
  topicId: [`"${formatRowId('top', 0, 0)}"`, `"${formatRowId('top', 0, 7)}"`],
  destinationId: [`"${formatRowId('dst', 0, 1)}"`],
  integrationIdOrName: ['"integration-1"'],
  installationId: [`"${formatRowId('ins', 0, ROW_COUNTS.installations - 1)}"`],
  search: ['"group-1"', '"integration"', '"nothing"'],
  createTime: ['{ from: "2020-01-01T00:00:00Z", until: "2099-01-01T00:00:00Z" }'],
  order: ['OLDEST_FIRST'],
  eventType: ['CONNECTION_ERROR'],
  eventTypes: [
    '[CONNECTION_ERROR]',
    '[DESTINATION_WEBHOOK_DISABLED]',
    '[READ_TRIGGERED_DONE, CONNECTION_ERROR]',
  ],
};

const PARENT_IDS: Record<string, string> = {
  Integration: formatRowId('int', 0, 1),
  Installation: formatRowId('ins', 0, ROW_COUNTS.installations - 1),
  Operation: formatRowId('opr', 0, ROW_COUNTS.operations - 1),
  Destination: formatRowId('dst', 0, 1),
  NotificationEvent: formatRowId('evt', 0, 1),
  Topic: formatRowId('top', 0, 1),
  Group: formatRowId('grp', 0, 1),
  Consumer: formatRowId('csm', 0, 1),
  // A connection that many installations use.
  ConnectedAccount: formatRowId('con', 0, 0),
};

/** A destination that is a stream, and so keeps its messages. */
const STREAM_ID = formatRowId('dst', 0, ROW_COUNTS.few);

describe.runIf(onPostgres)('on PostgreSQL', () => {
  let app: TestApp;
  let org: Awaited<ReturnType<typeof fillOrg>>;
  let largeTables: Set<string>;

  beforeAll(async () => {
    app = await createTestApp({ now: () => new Date(Date.now() + aheadMs) });
    org = await fillOrg(app, 3);
    largeTables = await fillLargeTables(app, org.projectId);
    return () => app[Symbol.asyncDispose]();
  }, LONG_MS);

  let aheadMs = 0;

  async function listFaults(work: () => Promise<unknown>, rowsMax = ROWS_MAX): Promise<string[]> {
    const plans = await collectQueryPlans(work);
    expect(plans).not.toEqual([]);
    return [...new Set(plans.flatMap((plan) => listPlanFaults(plan, { largeTables, rowsMax })))];
  }

  function createQuery(parent: string, list: string): string {
    if (parent === 'Query') return `{ ${list} }`;
    if (parent === 'Viewer') return `{ parent: viewer { ${list} } }`;
    const ids: Record<string, string> = { Project: org.projectId, Org: org.orgId, ...PARENT_IDS };
    const id = list.includes('messages(') ? STREAM_ID : ids[parent];
    return `{ parent: node(id: "${id}") { ... on ${parent} { ${list} } } }`;
  }

  describe.each(
    listShapes(schema).filter(({ name }) => name !== EMPTY_LIST && name !== 'Query.providers'),
  )('$name', (shape) => {
    const { parent, field, item } = shape;
    const page = (args: string, selection = '__typename') =>
      org.run(createQuery(parent.name, `list: ${field}(${args}) { ${selectPage(selection)} }`));

    async function listDeepArguments(): Promise<string[]> {
      const fetchPageInfo = async (args: string) => {
        const { data } = await page(args);
        return (data.parent ?? data).list.pageInfo;
      };
      const { endCursor } = await fetchPageInfo('first: 1000');
      const { startCursor } = await fetchPageInfo('last: 1000');
      return [
        `first: ${PAGE_SIZE}, after: "${endCursor}"`,
        `last: ${PAGE_SIZE}, before: "${startCursor}"`,
      ];
    }

    test('reads pages and their relations as index ranges', async () => {
      const pages = [`first: ${PAGE_SIZE}`, `last: ${PAGE_SIZE}`, ...(await listDeepArguments())];
      const work = async () => {
        for (const args of pages) await page(args, selectItem(item, 2));
      };
      expect(
        await listFaults(work, item.name === 'Project' ? ATTENTION_ROWS_MAX : ROWS_MAX),
      ).toEqual([]);
    });

    const filterArguments = listFilterArguments(shape, FILTER_VALUES);
    test.runIf(filterArguments.length > 0)(
      'reads filtered pages as index ranges',
      async () => {
        const firstAndLast = [`first: ${PAGE_SIZE}`, `last: ${PAGE_SIZE}`];
        const [, deepLast = ''] = await listDeepArguments();
        // One page for each direction and each bound. The other two are the same ranges, read backward.
        const pages = [`first: ${PAGE_SIZE}`, deepLast];
        // Search results have another order, and therefore other cursors.
        const listPages = (filters: string) => (filters.includes('search:') ? firstAndLast : pages);
        const work = async () => {
          for (const filters of filterArguments)
            for (const args of listPages(filters)) await page(`${args}, ${filters}`);
        };
        expect(await listFaults(work)).toEqual([]);
      },
      LONG_MS,
    );
  });

  test('reads one range if no operation matches the filters, independently of the order of the rows', async () => {
    await using direct = await connectDirectly(app);
    const query = (text: string) => direct.client.query(text);
    // The planner should prefer the primary key: rows are stored in the order of their IDs, and according to the
    // statistics, each value occurs in all rows.
    await query('cluster "Operation" using "Operation_pkey"');
    const setEstimate = async (setting: string) => {
      for (const name of ['projectId', 'installationId', 'status', 'actionType']) {
        await query(`alter table "Operation" alter column "${name}" ${setting}`);
      }
      await query('analyze "Operation"');
    };
    await setEstimate('set (n_distinct = 1)');
    const filters = [
      'status: IN_PROGRESS, actionType: SUBSCRIBE',
      'status: IN_PROGRESS',
      'actionType: SUBSCRIBE',
    ];
    const work = async () => {
      for (const parent of ['Project', 'Installation'])
        for (const filter of filters)
          for (const args of ['first: 20', 'last: 20'])
            await org.run(createQuery(parent, `operations(${args}, ${filter}) { nodes { id } }`));
    };
    expect(await listFaults(work)).toEqual([]);
    await setEstimate('reset (n_distinct)');
  });

  test('reads nodes by their IDs', async () => {
    const query = toQuery(app.app.services.database);
    const types = listStoredNodeTypes(schema).map(({ name }) => name);
    const readIds = async (name: string) => {
      const table = name === 'ConnectedAccount' ? 'Connection' : name;
      const text = `select "id" from "${table}" order by "id" limit ${PAGE_SIZE}`;
      return (await query<{ id: string }>(text, [])).map(({ id }) => id);
    };
    const idsOfTypes = await Promise.all(types.map(readIds));
    const work = async () => {
      for (const ids of idsOfTypes) {
        await org.run(
          `query Nodes { node(id: "${ids[0]}") { id } nodes(ids: ${JSON.stringify(ids)}) { id } }`,
        );
      }
    };
    expect(await listFaults(work)).toEqual([]);
  });

  test('finds uses of a destination with an index, even if every installation uses it', async () => {
    const { prisma } = app.app.services.database;
    const query = toQuery(app.app.services.database);
    const { projectId } = org;
    const name = formatRowId('dst', 0, 1);
    const { length } = await prisma.$transaction((tx) => listDestinationUses(tx, projectId, name));
    expect(length).toBe(10);
    const work = async () => {
      for (const destinationName of [name, 'records', 'unused']) {
        await prisma.$transaction((tx) => listDestinationUses(tx, projectId, destinationName));
      }
    };
    expect(await listFaults(work)).toEqual([]);
    const [usesPlan] = await query<{ count: bigint }>('select count(*) from "DestinationUse"', []);
    expect(Number(usesPlan?.count)).toBeGreaterThan(ROW_COUNTS.installations);
  });

  test('reads the event log as index ranges', async () => {
    const { database } = app.app.services;
    const { projectId } = org;
    const range = { projectId, above: 10_000n, limit: PAGE_SIZE };
    const eventTypes = ['CONNECTION_ERROR', 'READ_TRIGGERED_DONE'] as const;
    const topicId = formatRowId('top', 0, 7);
    const work = async () => {
      for (const filter of [{}, { eventTypes }, { topicId }, { topicId, eventTypes }]) {
        await readEvents(database, range, filter);
        await readEvents(database, { ...range, upTo: 10_100n }, filter);
      }
      const { entries } = await readEvents(database, range);
      await readTopicIds(database, projectId, entries);
      await readLastPositions(database, [projectId]);
      await isRetainedAfter(database, projectId, 10_000n);
    };
    expect(await listFaults(work)).toEqual([]);
  });

  test('reads activity as ranges of rows with many buckets', async () => {
    const from = new Date(Date.now() - 14 * 24 * 60 * 60 * 1_000).toISOString();
    const ACTIVITY = `activity(from: "${from}", bucket: HOUR)`;
    const DELIVERIES = 'attempts failedAttempts p50Ms p95Ms p99Ms';
    const [project, destination] = ['Project', 'Destination'].map((parent) =>
      createQuery(
        parent,
        parent === 'Project'
          ? `${ACTIVITY} { operations { count } deliveries { ${DELIVERIES} } records { read } streams { messages } }`
          : `${ACTIVITY} { ${DELIVERIES} } streamActivity(from: "${from}", bucket: HOUR) { messages }`,
      ),
    );
    const responses: Record<string, { activity: unknown }>[] = [];
    const work = async () => {
      for (const query of [project, destination])
        responses.push((await org.run(query as string)).data);
    };
    // The rows are 15 days of 100 destinations, and changes that are not aggregated yet.
    expect(await listFaults(work, 16 * FEW_ROWS)).toEqual([]);
    expect(responses[0]?.parent?.activity).toMatchObject({
      deliveries: expect.arrayContaining([expect.anything()]),
    });
    expect(responses[1]?.parent?.activity).toEqual(expect.arrayContaining([expect.anything()]));
  });

  test('reads attention items as bounded ranges of indexes', async () => {
    const kinds = new Set<string>();
    const work = async () => {
      const query = createQuery('Project', 'attentionItems { kind count }');
      const { data } = await org.run(query);
      for (const { kind } of data.parent.attentionItems) kinds.add(kind);
    };
    expect(await listFaults(work, ATTENTION_ROWS_MAX)).toEqual([]);
    expect([...kinds]).toEqual(
      expect.arrayContaining(['CONNECTION_BAD_CREDENTIALS', 'READ_PAUSED', 'OPERATIONS_FAILED']),
    );
  });

  test('reads only the necessary rows to claim, record and release deliveries', async () => {
    const { database, vault, log, now } = app.app.services;
    const limits = { ...DELIVERY_LIMITS, claimRows: PAGE_SIZE, inFlightPerDestination: 4 };
    const claimer = new Claimer({ database, vault, log, now, limits });
    const disableThreshold = { failingSince: now(), failedAttempts: 1 };
    const time = { now: now(), disableThreshold, reportSince: now() };
    const work = async () => {
      const { deliveries } = await claimer.claim(new Backlog(limits));
      expect(deliveries).toHaveLength(PAGE_SIZE);
      const rows = deliveries.map(({ row }) => row);
      const outcome = {
        durationMs: 1,
        responseStatus: 200,
        responseBody: null,
        error: null,
        event: null,
        failureReason: null,
      };
      const result = { ...outcome, status: 'SUCCEEDED', nextAttemptTime: null } as const;
      const attempts = rows.slice(1).map(({ id, projectId, destinationId, leaseToken }) => ({
        ...{ attemptId: newId('att'), projectId, deliveryId: id, destinationId, leaseToken },
        ...{ startTime: now(), ...result },
      }));
      const toBatch = <R>(rows: R[]) => ({ projectIds: null, rows });
      await releaseClaims(database.run, toBatch(rows.slice(0, 1)));
      await recordAttempts(database, toBatch(attempts.slice(1)), time);
      const event = createFailureEvent(deliveries[1] as ClaimedDelivery, 'The receiver is gone.');
      const failedAttempts = attempts
        .slice(0, 1)
        .map((attempt) => ({ ...attempt, status: 'FAILED', event }) as const);
      await recordAttempts(database, toBatch(failedAttempts), time);
    };
    // A claim reads up to 200 due deliveries of each destination.
    expect(await listFaults(work, 8 * FEW_ROWS)).toEqual([]);
  });

  test('counts pending deliveries up to the limit', async () => {
    const { services } = app.app;
    const config = { ...services.config, LIMIT_PENDING_DELIVERIES: PAGE_SIZE };
    const work = () => isBacklogged({ ...services, config }, org.projectId);
    expect(await listFaults(work)).toEqual([]);
  });

  test('reads only related rows for a write, a connection and a refresh', async () => {
    const writer = await createWriter(app);
    const asynchronousWrite = { mode: 'ASYNCHRONOUS', record: createContact() };
    const work = async () => {
      await writer.write({ record: createContact(), idempotencyKey: newId('opr') });
      await writer.write({ batch: [{ record: createContact() }, { record: createContact() }] });
      await writer.write(asynchronousWrite);
      await runDueRows(app.app.services, writes, { projectId: writer.projectId });
      const credentials = { apiKey: 'sandbox-key', consumerRef: 'another' };
      await generateConnection(writer, credentials);
      await generateConnection(writer, { ...credentials, groupName: 'A', consumerName: 'B' });
      await callSandbox(app, await connectWithTokens(app, await app.createTenant()));
    };
    expect(await listFaults(work)).toEqual([]);
  });

  test('reads only related rows to record a page of a read', async () => {
    const tenant = await app.createTenant();
    const installation = await installReads(app, tenant);
    await tenant.query(TRIGGER_READ, {
      input: { ...installation.triggerInput, objectName: 'contacts' },
    });
    const { services } = app.app;
    const run = await claimDueRow(services, reads, tenant.projectId);
    const installationKey = { id: installation.id, projectId: tenant.projectId };
    const source = await getReadSource(services, installationKey, 'contacts');
    const records = [{ id: '1', fields: {}, raw: {} }];
    const page = { records, nextCursor: 'next', estimatedTotal: null };
    const operation = { createTime: new Date() };
    const work = () => recordPage(services, { run, operation, source, page, durationMs: 0 });
    expect(await listFaults(work)).toEqual([]);
  });

  test('claims only due rows', async () => {
    const { services } = app.app;
    const config = { ...services.config, LIMIT_PENDING_DELIVERIES: PAGE_SIZE };
    const work = async () => {
      await startDueReads({ ...services, config });
      for (const work of LEASED_WORK) await claimDueRows(services, work);
    };
    expect(await listFaults(work)).toEqual([]);
  });

  test(
    'reads only expired rows in retention',
    async () => {
      aheadMs = 24 * 60 * 60 * 1_000;
      expect(
        await listFaults(() => removeExpired(app.app.services, { pause: async () => {} }), 8_000),
      ).toEqual([]);
    },
    LONG_MS,
  );
});

/** Opens a connection without the time limits that the gateway sets. */
async function connectDirectly({ app: { services } }: TestApp) {
  const [{ database } = { database: '' }] = await queryRows<{
    database: string;
  }>(services.database, 'select current_database() as "database"', []);
  const client = new pg.Client(`${inject('postgres').serverUrl}/${database}`);
  await client.connect();
  return { client, [Symbol.asyncDispose]: () => client.end() };
}

async function fillLargeTables(app: TestApp, projectId: string): Promise<Set<string>> {
  const { services } = app.app;
  await using direct = await connectDirectly(app);
  const { client } = direct;
  const runQuery: RunQuery = async (text, values) => (await client.query(text, values)).rows;
  const listTables = (condition = '') =>
    runQuery<{ relname: string }>(
      `select relname from pg_class
        where relkind = 'r' and relnamespace = 'public'::regnamespace ${condition}`,
      [],
    );
  // Checks of foreign keys would take most of the time, and the rows are consistent.
  await runQuery('set session_replication_role = replica', []);
  // If autovacuum changed statistics while tests delete rows, plans would depend on the duration of the run.
  for (const { relname } of await listTables()) {
    await runQuery(`alter table "${relname}" set (autovacuum_enabled = false)`, []);
  }
  const projects = [{ projectId, number: 0 }];
  for (let number = 10; projects.length < PROJECT_COUNT; number += 1) {
    const [orgId, otherId] = [newId('org'), newId('prj')];
    await runQuery('insert into "Org" ("id", "label") values ($1, $1)', [orgId]);
    const text = 'insert into "Project" ("id", "orgId", "name", "appName") values ($1, $2, $1, $1)';
    await runQuery(text, [otherId, orgId]);
    projects.push({ projectId: otherId, number });
  }
  for (const project of projects) {
    await fillProject({ ...services, query: runQuery }, project, ROW_COUNTS);
  }
  // The sample has all rows, so that statistics are the same in each run. The costs of two plans can differ by 3 %.
  await runQuery('set default_statistics_target = 1000', []);
  await runQuery('vacuum analyze', []);
  const largeTables = await listTables('and reltuples > 1000');
  return new Set(largeTables.map(({ relname }) => relname));
}
