/** A node that does not respond counts as unavailable, and its statements fail. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { NodeWatch } from '../../../src/database/cluster/node-watch.ts';
import { ServiceUnavailable } from '../../../src/kernel/errors.ts';
import { createLog } from '../../../src/kernel/log.ts';

/** Longer than statements wait before their node is probed. */
const LONG_MS = 1_300;

/** Creates a watch, and a function that starts statements. The test completes each statement, or the watch fails it. */
function createWatch(canCommit: (node: number) => boolean | Promise<boolean>) {
  const lines: { msg: string; node: number }[] = [];
  const log = createLog('warn', { write: (line) => lines.push(JSON.parse(line)) });
  const probedNodes: number[] = [];
  const watch = new NodeWatch({
    canCommit: async (node) => {
      probedNodes.push(node);
      return canCommit(node);
    },
    log,
    pollMs: 20,
  });
  const startStatement = (node: number) => {
    const onEnd = vi.fn();
    const endWatch = watch.begin([node], { destroy: () => fail('Cut.') });
    const end = (error: unknown) => {
      endWatch(error);
      onEnd(error);
    };
    const fail = (message: string) =>
      end(new ServiceUnavailable(message, { cause: undefined, retryAfterSeconds: 1 }));
    return { onEnd, succeed: () => end(null), fail: () => fail('Lost.') };
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
function succeedRepeatedly(startStatement: (node: number) => { succeed(): void }): Disposable {
  const timer = setInterval(() => startStatement(1).succeed(), 10);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

test('fails statements that wait for an unresponsive node, and refuses further statements', async () => {
  let canRespond = false;
  using fixture = createWatch((node) => node !== 1 || canRespond);
  const { watch, startStatement, lines } = fixture;
  const statements = Array.from({ length: 4 }, () => startStatement(1));
  const otherStatement = startStatement(2);
  await expect.poll(() => watch.isUnreachable(1)).toBe(true);
  for (const { onEnd } of statements) {
    expect(onEnd).toHaveBeenCalledExactlyOnceWith(expect.any(ServiceUnavailable));
  }
  expect(otherStatement.onEnd).not.toHaveBeenCalled();
  expect(watch.findRefusal([1])).toBeInstanceOf(ServiceUnavailable);
  expect(watch.findRefusal([2, 1])).toBeInstanceOf(ServiceUnavailable);
  expect(watch.findRefusal([2])).toBeNull();
  expect(lines).toMatchObject([{ msg: 'cluster_node.unreachable', node: 1 }]);

  canRespond = true;
  await expect.poll(() => watch.isUnreachable(1)).toBe(false);
  expect(watch.findRefusal([1])).toBeNull();
  otherStatement.succeed();
  expect(otherStatement.onEnd).toHaveBeenCalledExactlyOnceWith(null);
});

test('does not probe a node when few statements are slow', async () => {
  using fixture = createWatch(() => false);
  const { watch, startStatement, probedNodes } = fixture;
  startStatement(1);
  startStatement(1);
  await delay(LONG_MS);
  expect(probedNodes).toEqual([]);
  expect(watch.isAnyUnreachable).toBe(false);
});

test('fails statements that wait too long, even if the node responds to other statements', async () => {
  let canRespond = false;
  using fixture = createWatch(() => canRespond);
  const { watch, startStatement } = fixture;
  const statements = Array.from({ length: 3 }, () => startStatement(1));
  using _succeeding = succeedRepeatedly(startStatement);
  await expect.poll(() => watch.isUnreachable(1)).toBe(true);
  for (const { onEnd } of statements) {
    expect(onEnd).toHaveBeenCalledExactlyOnceWith(expect.any(ServiceUnavailable));
  }
  canRespond = true;
  await expect.poll(() => watch.isUnreachable(1)).toBe(false);
});

test('keeps a node available if it responds to its statements during a failed probe', async () => {
  const { promise: failed, resolve: fail } = Promise.withResolvers<boolean>();
  using fixture = createWatch(() => failed);
  const { watch, startStatement, probedNodes } = fixture;
  const statements = Array.from({ length: 3 }, () => startStatement(1));
  await expect.poll(() => probedNodes.length).toBe(1);
  for (const { succeed } of statements) succeed();
  fail(false);
  await delay(LONG_MS);
  expect(watch.isAnyUnreachable).toBe(false);
});

test('probes a node on which a statement has failed', async () => {
  let canRespond = false;
  using fixture = createWatch(() => canRespond);
  const { watch, startStatement } = fixture;
  startStatement(1).fail();
  await expect.poll(() => watch.isUnreachable(1)).toBe(true);
  expect(watch.isUnreachable(2)).toBe(false);
  canRespond = true;
  await expect.poll(() => watch.isUnreachable(1)).toBe(false);
  startStatement(1).fail();
  await expect.poll(() => fixture.probedNodes.length).toBeGreaterThan(2);
  expect(watch.isUnreachable(1)).toBe(false);
});

test('keeps statements waiting if the node accepts a new connection', async () => {
  using fixture = createWatch(() => true);
  const { watch, startStatement, probedNodes, lines } = fixture;
  const statements = Array.from({ length: 4 }, () => startStatement(2));
  await expect.poll(() => probedNodes.length).toBeGreaterThan(0);
  expect(watch.isUnreachable(2)).toBe(false);
  expect(lines).toEqual([]);
  for (const { onEnd, succeed } of statements) {
    succeed();
    expect(onEnd).toHaveBeenCalledExactlyOnceWith(null);
  }
});
