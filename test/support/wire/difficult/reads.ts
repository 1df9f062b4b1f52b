/**
 * Reads a misbehaving vendor with the real app and a moved clock: a full read, several scheduled reads with changes between
 * them, and two reads without changes. Returns what is missing at the end.
 */
import fc from 'fast-check';
import { reads } from '../../../../src/domain/data/operation/read/continue-read.ts';
import { startDueReads } from '../../../../src/domain/data/operation/read/schedule.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../src/work/durations.ts';
import type { TestApp } from '../../app.ts';
import { generateConnection } from '../../fixtures/connections.ts';
import { createInstallation, createIntegration } from '../../fixtures/integrations.ts';
import { runDueRows } from '../../work/due-work.ts';
import type { Values } from '../wire-format.ts';
import { Ledger } from './ledger.ts';
import {
  type Combination,
  createExtraValues,
  getDelayMs,
  listDetails,
  misbehave,
} from './misbehave.ts';
import type { MovedClock } from './moved-clock.ts';
import type { DifficultVendor } from './vendors.ts';

const ROUNDS = 3;
/**
 * The time between two requests. Changes during a read are further apart than the precision of the vendors' filters, because
 * pages are small: no page contains only records that changed in the same second.
 */
const REQUEST_MS = 2_500;
export const scenario = fc.record({
  /** The minute of the day at which the first read starts. */
  startMinute: fc.nat(1439),
  records: fc.integer({ min: 5, max: 9 }),
  /** Selects one of several variants of a misbehavior. */
  variant: fc.nat(5),
  rounds: fc.array(
    fc.record({
      minutes: fc.integer({ min: 11, max: 70 }),
      changes: fc.array(
        fc.record({
          /** The record that changes. A number beyond the last record creates one. */
          index: fc.nat(14),
          /** When it changes, in percent of the round. 0 is the end of the next read's window. */
          at: fc.oneof(fc.constant(0), fc.nat(99)),
          /** How much later it appears, in percent of the vendor's delay. */
          delay: fc.nat(99),
        }),
        { minLength: 1, maxLength: 4 },
      ),
    }),
    { minLength: ROUNDS, maxLength: ROUNDS },
  ),
});
export type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

interface ReadResult {
  /** The records whose last version was not delivered, and values that differ from the vendor's. */
  missing: string[];
  /** The results of failed operations, in their order. */
  failures: string[];
  /** True if the last operation succeeded. */
  hasRecovered: boolean;
}

/** True if the vendor may refuse each attempt, so that a read may fail. */
function mayFail(combination: Combination): boolean {
  const { misbehavior, detail } = combination;
  if (misbehavior === 'longUrl') return detail === 'unknown';
  if (misbehavior === 'depthLimit') return listDetails(combination).continues !== true;
  return misbehavior === 'repeatedCursor';
}

/** Returns lost records, and failures of reads that can succeed. */
export function listFaults(
  { missing, failures, hasRecovered }: ReadResult,
  combination: Combination,
): string[] {
  if (!mayFail(combination)) return [...missing, ...failures];
  const withoutReason = failures.filter((reason) => reason === '').map(() => 'no reason');
  return hasRecovered ? [...missing, ...withoutReason] : withoutReason;
}

/** The app whose provider requests the server of the current account, and the clock of both. */
export interface Stage {
  app: TestApp;
  clock: MovedClock;
  /** Sets the URL of the vendor's server. */
  setUrl: (url: string) => void;
}

/** Opens a tenant, and returns a function that installs an integration which reads the vendor's object. */
export async function openTenant({ app }: Stage, { name: provider, ...vendor }: DifficultVendor) {
  const tenant = await app.createTenant();
  const { objectName, connection } = vendor;
  return async (fields: string[]): Promise<string> => {
    const name = `reads-${crypto.randomUUID().slice(0, 8)}`;
    const requiredFields = fields.map((fieldName) => ({ fieldName }));
    const object = { objectName, destination: 'records', schedule: '0 0 1 1 *', requiredFields };
    await createIntegration(app, tenant, { name, provider, read: { objects: [object] } });
    await generateConnection(tenant, { provider, groupRef: name, ...connection });
    const { id } = await createInstallation(tenant, { integrationIdOrName: name, groupRef: name });
    return id;
  };
}

/** The number of pages after which a read counts as endless. */
const PAGES_MAX = 30;

/**
 * Starts the read of an installation and runs it until it ends. Returns how long before its start its window ended, or 0 if
 * it failed.
 */
async function runRead({ app: { app }, clock }: Stage, installationId: string): Promise<number> {
  const { services } = app;
  const { prisma } = services.database;
  const where = { installationId };
  const startMs = clock.now().getTime();
  await prisma.installedObject.updateMany({ where, data: { nextReadTime: new Date(0) } });
  await startDueReads(services);
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const run = await prisma.readRun.findFirst({ where });
    if (!run) {
      const { readUntil } = await prisma.installedObject.findFirstOrThrow({ where });
      return readUntil ? startMs - readUntil.getTime() : 0;
    }
    await prisma.readRun.updateMany({ where, data: { dueTime: new Date(0) } });
    await runDueRows(services, reads, { projectId: run.projectId });
    clock.advance(MINUTE_MS);
  }
  throw new Error(`The read has not ended after ${PAGES_MAX} pages.`);
}

interface Round {
  startMs: number;
  /** The start of the read. */
  endMs: number;
  /** How long before its start the window of a read ends. */
  settleMs: number;
  /** How much later than its change a record appears. */
  delayMs: number;
}

/** Returns the time of a change, at a percentage of the round. Changes at the end of the window and late ones matter most. */
function chooseChangeTime(
  { startMs, endMs, settleMs, delayMs }: Round,
  percentage: number,
): number {
  const part = percentage / 100;
  // A late record appears only after the read.
  if (delayMs > 0) return Math.max(startMs, endMs - part * delayMs);
  return percentage === 0
    ? Math.max(startMs, endMs - settleMs)
    : startMs + part * (endMs - startMs);
}

/** Runs one scenario. Throws an error if a read does not end. */
export async function readDifficultVendor(
  stage: Stage,
  install: (fields: string[]) => Promise<string>,
  combination: Combination,
  { startMinute, records, variant, rounds }: Scenario,
): Promise<ReadResult> {
  const { clock } = stage;
  const { vendor, misbehavior } = combination;
  clock.startDay(startMinute);
  await using account = await vendor.start(clock.now);
  stage.setUrl(account.url);
  const extraValues = createExtraValues(combination);
  const ledger = new Ledger(account, vendor.textField, extraValues);
  const { switches } = account;
  switches.beforeRequest = () => clock.advance(REQUEST_MS);
  const count = Math.max(records, vendor.recordsMin);
  for (let n = 0; n < count; n += 1) {
    ledger.create(new Date(clock.now().getTime() - HOUR_MS - (count - n) * 97 * SECOND_MS));
  }
  const installationId = await install([vendor.textField, ...Object.keys(extraValues)]);
  const hiddenIds = misbehave({ ...combination, account, ledger, clock }, variant);
  const settleMs = await runRead(stage, installationId);
  for (const { minutes, changes } of rounds) {
    const startMs = clock.now().getTime();
    const endMs = startMs + minutes * MINUTE_MS;
    switches.listResponses = 0;
    for (const { index, at, delay } of changes) {
      const delayMs = (delay / 100) * getDelayMs(combination);
      const changedAt = new Date(chooseChangeTime({ startMs, endMs, settleMs, delayMs }, at));
      clock.at(changedAt.getTime() + delayMs, () => {
        const id = ledger.ids[index % (count + 3)];
        if (id === undefined) ledger.create(changedAt);
        else if (misbehavior === 'otherColumn') ledger.change(id, changedAt, changedAt);
        else if (!hiddenIds.has(id)) ledger.change(id, changedAt);
      });
    }
    clock.advance(minutes * MINUTE_MS);
    await runRead(stage, installationId);
  }
  // Transient misbehaviors end. A vendor that hides, delays or rounds does so in the last reads too.
  Object.assign(switches, { repeatsFrom: null, cursors: null, afterList: () => {} });
  for (let n = 0; n < 2; n += 1) {
    clock.advance(HOUR_MS);
    await runRead(stage, installationId);
  }
  const expected = [...ledger.versions].filter(([id]) => !hiddenIds.has(id));
  return findMissing(stage.app, installationId, {
    texts: new Map(expected),
    textField: vendor.textField,
    extraValues,
  });
}

interface Expectation {
  /** The text of each record's last version, by ID. */
  texts: ReadonlyMap<string, string>;
  textField: string;
  /** Values of every record. */
  extraValues: Values;
}

async function findMissing(
  { app }: TestApp,
  installationId: string,
  { texts, textField, extraValues }: Expectation,
): Promise<ReadResult> {
  const { prisma } = app.services.database;
  const operations = await prisma.operation.findMany({
    where: { installationId },
    orderBy: { id: 'asc' },
  });
  const deliveries = await prisma.delivery.findMany({
    where: { operationId: { in: operations.map(({ id }) => id) } },
  });
  const entries = deliveries.flatMap(
    ({ body }): { id: string; fields: Values }[] => JSON.parse(body).result,
  );
  const delivered = new Set(entries.map(({ id, fields }) => `${id}: ${fields[textField]}`));
  const expected = [...texts].map(([id, text]) => `${id}: ${text}`);
  const wrong = entries.flatMap(({ id, fields }) =>
    Object.entries(extraValues)
      .filter(([name, value]) => fields[name] !== value)
      .map(([name]) => `${id}: ${name} is ${fields[name]}`),
  );
  return {
    missing: [...expected.filter((version) => !delivered.has(version)), ...wrong.slice(0, 3)],
    failures: operations.flatMap(({ status, result }) =>
      status === 'FAILURE' ? (result ?? '') : [],
    ),
    hasRecovered: operations.at(-1)?.status === 'SUCCESS',
  };
}
