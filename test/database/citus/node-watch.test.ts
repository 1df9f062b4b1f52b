/** A node that does not respond counts as unavailable, and its statements fail. */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { NodeWatch } from '../../../src/database/citus/node-watch.ts';
import { ServiceUnavailable } from '../../../src/errors.ts';
import { createLog } from '../../../src/log.ts';

const NODE_BY_PROJECT: Record<string, number> = { prj_a: 1, prj_b: 2 };
/** Longer than statements wait before their node is probed. */
const LONG_MS = 1_300;

/** Creates a watch, and a function that starts statements. The test completes each statement, or the watch fails it. */
function createWatch(canCommit: (node: number) => boolean | Promise<boolean>) {
  const lines: { msg: string; node: number }[] = [];
  const log = createLog('warn', { write: (line) => lines.push(JSON.parse(line)) });
  const probedNodes: number[] = [];
  const watch = new NodeWatch({
    findNode: (projectId) => NODE_BY_PROJECT[projectId],
    listNodes: () => [1, 2],
    canCommit: async (node) => {
      probedNodes.push(node);
      return canCommit(node);
    },
    log,
    pollMs: 20,
  });
  const startStatement = (projectId: string) => {
    const onResult = vi.fn();
    const destroy = () =>
      settle(new ServiceUnavailable('Cut.', { cause: undefined, retryAfterSeconds: 1 }));
    const settle = watch.watchStatement(
      watch.listStatementNodes([1, null, [projectId]]),
      { destroy },
      onResult,
    );
    const lose = () => {
      const cause = Object.assign(new pg.DatabaseError('Lost.', 1, 'error'), { code: '08006' });
      settle(new ServiceUnavailable('Lost.', { cause, retryAfterSeconds: 1 }));
    };
    return { onResult, succeed: () => settle(null, 'rows'), lose };
  };
  return {
    watch,
    startStatement,
    probedNodes,
    lines,
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  };
}

/** Completes statements of the same node every 10 ms. */
function succeedRepeatedly(startStatement: (projectId: string) => { succeed(): void }): Disposable {
  const timer = setInterval(() => startStatement('prj_a').succeed(), 10);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

test('fails statements that wait for an unresponsive node, and refuses further statements', async () => {
  let canRespond = false;
  using fixture = createWatch((node) => node !== 1 || canRespond);
  const { watch, startStatement, lines } = fixture;
  const statements = Array.from({ length: 4 }, () => startStatement('prj_a'));
  const otherStatement = startStatement('prj_b');
  await expect.poll(() => watch.isAway(1)).toBe(true);
  for (const { onResult } of statements) {
    expect(onResult).toHaveBeenCalledExactlyOnceWith(expect.any(ServiceUnavailable), undefined);
  }
  expect(otherStatement.onResult).not.toHaveBeenCalled();
  expect(watch.findRefusal(watch.listStatementNodes(['prj_a']))).toBeInstanceOf(ServiceUnavailable);
  expect(watch.findRefusal(watch.listStatementNodes(['prj_b', 'prj_a']))).toBeInstanceOf(
    ServiceUnavailable,
  );
  expect(watch.findRefusal(watch.listAllNodes())).toBeInstanceOf(ServiceUnavailable);
  expect(watch.findRefusal(watch.listStatementNodes(['prj_b', 'prj_new']))).toBeNull();
  expect(lines).toMatchObject([{ msg: 'node.away', node: 1 }]);

  canRespond = true;
  await expect.poll(() => watch.isAway(1)).toBe(false);
  expect(watch.findRefusal(watch.listStatementNodes(['prj_a']))).toBeNull();
  otherStatement.succeed();
  expect(otherStatement.onResult).toHaveBeenCalledExactlyOnceWith(null, 'rows');
});

test('does not probe a node when few statements are slow', async () => {
  using fixture = createWatch(() => false);
  const { watch, startStatement, probedNodes } = fixture;
  startStatement('prj_a');
  startStatement('prj_a');
  await delay(LONG_MS);
  expect(probedNodes).toEqual([]);
  expect(watch.isAnyAway).toBe(false);
});

test('fails statements that wait too long, even if the node responds to other statements', async () => {
  let canRespond = false;
  using fixture = createWatch(() => canRespond);
  const { watch, startStatement } = fixture;
  const statements = Array.from({ length: 3 }, () => startStatement('prj_a'));
  using _succeeding = succeedRepeatedly(startStatement);
  await expect.poll(() => watch.isAway(1), { timeout: 10_000 }).toBe(true);
  for (const { onResult } of statements) {
    expect(onResult).toHaveBeenCalledExactlyOnceWith(expect.any(ServiceUnavailable), undefined);
  }
  canRespond = true;
  await expect.poll(() => watch.isAway(1), { timeout: 10_000 }).toBe(false);
});

test('keeps a node available if it responds to its statements during a failed probe', async () => {
  const { promise: failed, resolve: fail } = Promise.withResolvers<boolean>();
  using fixture = createWatch(() => failed);
  const { watch, startStatement, probedNodes } = fixture;
  const statements = Array.from({ length: 3 }, () => startStatement('prj_a'));
  await expect.poll(() => probedNodes.length, { timeout: 10_000 }).toBe(1);
  for (const { succeed } of statements) succeed();
  fail(false);
  await delay(LONG_MS);
  expect(watch.isAnyAway).toBe(false);
});

test('probes a node immediately after the coordinator loses it', async () => {
  let canRespond = false;
  using fixture = createWatch(() => canRespond);
  const { watch, startStatement } = fixture;
  startStatement('prj_a').lose();
  await expect.poll(() => watch.isAway(1)).toBe(true);
  expect(watch.isAway(2)).toBe(false);
  canRespond = true;
  await expect.poll(() => watch.isAway(1)).toBe(false);
  startStatement('prj_a').lose();
  await expect.poll(() => fixture.probedNodes.length).toBeGreaterThan(2);
  expect(watch.isAway(1)).toBe(false);
});

test('keeps statements waiting if the node accepts a new connection', async () => {
  using fixture = createWatch(() => true);
  const { watch, startStatement, probedNodes, lines } = fixture;
  const statements = Array.from({ length: 4 }, () => startStatement('prj_b'));
  await expect.poll(() => probedNodes.length).toBeGreaterThan(0);
  expect(watch.isAway(2)).toBe(false);
  expect(lines).toEqual([]);
  for (const { onResult, succeed } of statements) {
    succeed();
    expect(onResult).toHaveBeenCalledExactlyOnceWith(null, 'rows');
  }
});
