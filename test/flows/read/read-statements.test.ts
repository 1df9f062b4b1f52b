/** A page of a read is recorded with few statements, which change only its rows. */

import { expect, test } from 'vitest';
import { LeaseLost } from '../../../src/database/leases/lease.ts';
import {
  reads as readWork,
  recordPage,
} from '../../../src/domain/data/operation/read/continue-read.ts';
import { getReadSource } from '../../../src/domain/data/operation/read/read-source.ts';
import { startDueReads } from '../../../src/domain/data/operation/read/schedule.ts';
import { getSharedApp } from '../../support/app.ts';
import { recordStatements } from '../../support/database/statements.ts';
import { installReads } from '../../support/fixtures/reads.ts';
import { createStream } from '../../support/fixtures/streams.ts';
import { claimDueRow } from '../../support/work/due-work.ts';

const app = await getSharedApp();
const { services } = app.app;
const { prisma } = services.database;

/** Returns the first word of a statement, and the first table that it names. */
function nameStatement({ text }: { text: string }): string {
  const table = /(?:from|into|update|join) (?:"public"\.)?"(\w+)"/i.exec(text)?.[1];
  return [text.trim().split(/\s/)[0]?.toLowerCase(), table].join(' ').trim();
}

async function createClaimedRun() {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const reads = await installReads(app, tenant);
  await reads.makeDue();
  await startDueReads(services);
  const [operation] = await reads.listOperations();
  if (!operation) throw new Error('No read has started.');
  const run = await claimDueRow(services, readWork, projectId);
  const source = await getReadSource(services, { id: reads.id, projectId }, 'contacts');
  const createPage = (id: string, nextCursor: string | null) => ({
    records: [{ id, fields: { email: `${id}@example.com` }, raw: { id } }],
    nextCursor,
    estimatedTotal: 2,
  });
  return { projectId, reads, operation, run, source, createPage };
}

test('records a page with its deliveries and position in one statement', async () => {
  const { projectId, reads, operation, run, source, createPage } = await createClaimedRun();
  const page = createPage('1', 'next');
  const { result, statements } = await recordStatements(() =>
    recordPage(services, { run, operation, source, page, durationMs: 7 }),
  );
  expect(statements.map(nameStatement)).toEqual(['with InstalledObject']);

  const [storedRun] = await services.database.reads.find('ReadRun', {
    projectId,
    operationId: operation.id,
  });
  expect(result.nextRun).toEqual(storedRun);
  expect(storedRun).toMatchObject({
    cursor: 'next',
    pagesRead: 1,
    recordsRead: 1,
    estimatedTotal: 2,
  });
  expect(await reads.getObject()).toMatchObject({ recordsRead: 1 });
  const [updatedOperation] = await reads.listOperations();
  expect(updatedOperation).toMatchObject({
    status: 'IN_PROGRESS',
    metadata: { progress: { recordsProcessed: 1, recordsEstimatedTotal: 2 } },
  });
  const lines = await prisma.operationLog.findMany({ where: { operationId: operation.id } });
  expect(lines.map(({ message }) => message)).toContain('[contacts] Page 1: 1 records');
});

test('ends the read together with its last page, in one transaction', async () => {
  const { reads, operation, run, source, createPage } = await createClaimedRun();
  const { nextRun } = await recordPage(services, {
    run,
    operation,
    source,
    page: createPage('1', 'next'),
    durationMs: 0,
  });
  if (!nextRun) throw new Error('The read has ended.');
  const { result, statements } = await recordStatements(() =>
    recordPage(services, {
      run: nextRun,
      operation,
      source,
      page: createPage('2', null),
      durationMs: 0,
    }),
  );
  expect(result.nextRun).toBeNull();
  expect(statements.slice(0, 2).map(nameStatement)).toEqual(['begin', 'with InstalledObject']);
  expect(statements.filter((statement) => nameStatement(statement) === 'begin')).toHaveLength(1);
  expect(await reads.listOperations()).toMatchObject([
    { status: 'SUCCESS', result: '[contacts] Read completed (2 records)' },
  ]);
  const messages = await reads.listMessages();
  expect(messages.flatMap(({ result: records }) => records.map(({ raw }) => raw.id))).toEqual([
    '1',
    '2',
  ]);
});

test('appends a page to a stream', async () => {
  const { projectId, operation, run, source, createPage } = await createClaimedRun();
  await prisma.destination.deleteMany({ where: { projectId } });
  const { destinationId } = await createStream(services.database, { projectId });
  await recordPage(services, {
    run,
    operation,
    source,
    page: createPage('1', null),
    durationMs: 0,
  });
  const messages = await prisma.streamMessage.findMany({ where: { projectId, destinationId } });
  expect(messages.map(({ position }) => position)).toEqual([1n]);
  expect(JSON.parse(messages[0]?.body ?? '')).toMatchObject({ result: [{ raw: { id: '1' } }] });
  expect(await prisma.delivery.count({ where: { projectId, operationId: run.operationId } })).toBe(
    0,
  );
});

test('records no page if the lease, the object or the destination is gone', async () => {
  const { projectId, reads, operation, run, source, createPage } = await createClaimedRun();
  const page = createPage('1', 'next');
  const lostLease = { leaseToken: 'of another claim' };
  const recordWith = (overrides: Partial<typeof run>) =>
    recordPage(services, { run: { ...run, ...overrides }, operation, source, page, durationMs: 0 });
  await expect(recordWith(lostLease)).rejects.toThrow(LeaseLost);
  await expect(recordWith({ objectName: 'deals' })).rejects.toThrow('no longer reads deals');
  await prisma.destination.deleteMany({ where: { projectId } });
  await expect(recordWith({})).rejects.toThrow('The destination records does not exist.');
  expect(
    await services.database.reads.find('ReadRun', { projectId, operationId: operation.id }),
  ).toEqual([run]);
  expect(await reads.getObject()).toMatchObject({ recordsRead: 0, lastReadTime: null });
  expect(await reads.listOperations()).toEqual([operation]);
});
