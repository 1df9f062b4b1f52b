/** Makes a worker of a cluster fail under load. Only projects on that worker may notice. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { IS_SHORT } from '../fixtures/settings.ts';
import type { Cluster, Fault } from './cluster.ts';
import { computeP99, type TimeSpan } from './durations.ts';
import { countWorkIn, expectWorkSince } from './record-load.ts';
import {
  listConnectDurations,
  logP99,
  type SpreadLoad,
  type SpreadProject,
} from './spread-load.ts';

/** Duration of the load before and after a fault. */
export const STEADY_MS = IS_SHORT ? 5_000 : 15_000;
/** Requests that wait for the failed worker are aborted within this time, long before the statement timeout. */
const DETECTION_MS = 8_000;

interface WorkerFault {
  durationMs: number;
  /** Makes the first worker fail. Call `end` of the result to end the fault. */
  begin(): Promise<Fault>;
}

/**
 * Expects that a fault of the first worker delays only the projects on it and loses nothing. Ends the load.
 */
export async function expectIsolatedFault(
  cluster: Cluster,
  { projects, gateway, end }: SpreadLoad,
  { durationMs, begin }: WorkerFault,
): Promise<void> {
  const unaffected = projects.filter(({ worker }) => worker !== 0);
  const affected = projects.filter(({ worker }) => worker === 0);
  const beforeMs = performance.now();
  await delay(STEADY_MS);

  const faultMs = performance.now();
  const fault = await begin();
  const counts = await countDuring(durationMs, unaffected);
  const spanEndMs = performance.now();
  const busyConnections = await cluster.query(
    `select from pg_stat_activity where backend_type = 'client backend' and state <> 'idle'`,
  );
  await fault.end();
  const recoveredMs = performance.now();

  const spanBefore = { fromMs: beforeMs, toMs: faultMs };
  const spanDuring = { fromMs: faultMs, toMs: spanEndMs };
  const workDuring = countWorkIn(unaffected, spanDuring);
  const unreachableLines = gateway.lines.filter(({ msg }) => msg === 'cluster_node.unreachable');
  const detectionMs =
    Date.parse(String(unreachableLines[0]?.time)) - performance.timeOrigin - faultMs;
  console.log({
    unaffected: counts,
    workDuring,
    ...summarizeFault(unaffected, spanBefore, spanDuring),
    detectionMs: Math.round(detectionMs),
    busyConnections: busyConnections.length,
  });
  expect(unreachableLines).toHaveLength(1);
  const failures = gateway.lines.filter(({ msg }) => msg === 'database.failed');
  const errors = [...unaffected.flatMap((project) => project.errors), JSON.stringify(failures)];
  expect(
    counts.filter(({ refused }) => refused > 0),
    errors.join('\n'),
  ).toEqual([]);
  expect(Math.min(...counts.map(({ received }) => received))).toBeGreaterThan(0);
  expect(Math.min(...Object.values(workDuring))).toBeGreaterThan(0);
  expect(affected.every(({ refusedCount }) => refusedCount > 0)).toBe(true);

  await delay(STEADY_MS);
  const spanAfter = { fromMs: recoveredMs, toMs: performance.now() };
  expect(listConnectDurations(affected, spanAfter).length).toBeGreaterThan(0);
  await expectWorkSince(affected, recoveredMs);
  await end();
  logP99(unaffected, spanBefore, spanDuring);
}

interface ResultCounts {
  refused: number;
  /** Number of webhook messages. */
  received: number;
}

/** Waits, and returns the results of each project during the wait. */
async function countDuring(durationMs: number, projects: SpreadProject[]): Promise<ResultCounts[]> {
  const countsBefore = projects.map((project) => ({ project, before: countResults(project) }));
  await delay(durationMs);
  return countsBefore.map(({ project, before }) => {
    const { refused, received } = countResults(project);
    return { refused: refused - before.refused, received: received - before.received };
  });
}

function countResults({ refusedCount, listReceivedIds }: SpreadProject): ResultCounts {
  return { refused: refusedCount, received: listReceivedIds().length };
}

/** Summarizes the calls of projects before and during a fault, and after its detection. */
function summarizeFault(projects: SpreadProject[], spanBefore: TimeSpan, spanDuring: TimeSpan) {
  const spanDetected = { ...spanDuring, fromMs: spanDuring.fromMs + DETECTION_MS };
  return {
    callsBefore: summarizeCalls(projects, spanBefore),
    callsDuring: summarizeCalls(projects, spanDuring),
    callsAfterDetection: summarizeCalls(projects, spanDetected),
  };
}

function summarizeCalls(projects: SpreadProject[], span: TimeSpan): string {
  const durations = listConnectDurations(projects, span);
  return `${durations.length} calls, p99 ${computeP99(durations)} ms`;
}
