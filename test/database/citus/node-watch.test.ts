/** When a node of a cluster is said to be away, and what then becomes of the statements for it. */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { NodeWatch } from '../../../src/database/citus/node-watch.ts';
import { ServiceUnavailable } from '../../../src/errors.ts';
import { createLog } from '../../../src/log.ts';

const PROJECTS: Record<string, number> = { prj_a: 1, prj_b: 2 };
/** Longer than statements wait before their node is tried, and many looks. */
const LONG_MS = 1_300;

/** With statements for the nodes, which are answered when the test says so, or fail when they are cut off. */
function watched(answers: (node: number) => boolean | Promise<boolean>) {
  const lines: { msg: string; node: number }[] = [];
  const log = createLog('warn', { write: (line) => lines.push(JSON.parse(line)) });
  const tried: number[] = [];
  const watch = new NodeWatch({
    nodeOf: (projectId) => PROJECTS[projectId],
    nodes: () => [1, 2],
    answers: async (node) => {
      tried.push(node);
      return answers(node);
    },
    log,
    lookMs: 20,
  });
  const ask = (projectId: string) => {
    const take = vi.fn();
    const cut = () =>
      told(new ServiceUnavailable('Cut.', { cause: undefined, retryAfterSeconds: 1 }));
    const told = watch.waiting(watch.nodesOf([1, null, [projectId]]), { cut }, take);
    const lose = () => {
      const cause = Object.assign(new pg.DatabaseError('Lost.', 1, 'error'), { code: '08006' });
      told(new ServiceUnavailable('Lost.', { cause, retryAfterSeconds: 1 }));
    };
    return { take, answer: () => told(null, 'rows'), lose };
  };
  return { watch, ask, tried, lines, [Symbol.dispose]: () => watch[Symbol.dispose]() };
}

/** While others wait. */
function answerAgainAndAgain(ask: (projectId: string) => { answer(): void }): Disposable {
  const timer = setInterval(() => ask('prj_a').answer(), 10);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

test('who waits for a node that does not answer is cut off, and new statements for it are refused', async () => {
  let isBack = false;
  using scene = watched((node) => node !== 1 || isBack);
  const { watch, ask, lines } = scene;
  const waiting = Array.from({ length: 4 }, () => ask('prj_a'));
  const other = ask('prj_b');
  await expect.poll(() => watch.isAway(1)).toBe(true);
  for (const { take } of waiting) {
    expect(take).toHaveBeenCalledExactlyOnceWith(expect.any(ServiceUnavailable), undefined);
  }
  expect(other.take).not.toHaveBeenCalled();
  expect(watch.refusalOf(watch.nodesOf(['prj_a']))).toBeInstanceOf(ServiceUnavailable);
  expect(watch.refusalOf(watch.nodesOf(['prj_b', 'prj_a']))).toBeInstanceOf(ServiceUnavailable);
  expect(watch.refusalOf(watch.allNodes())).toBeInstanceOf(ServiceUnavailable);
  expect(watch.refusalOf(watch.nodesOf(['prj_b', 'prj_new']))).toBeNull();
  expect(lines).toMatchObject([{ msg: 'node.away', node: 1 }]);

  isBack = true;
  await expect.poll(() => watch.isAway(1)).toBe(false);
  expect(watch.refusalOf(watch.nodesOf(['prj_a']))).toBeNull();
  other.answer();
  expect(other.take).toHaveBeenCalledExactlyOnceWith(null, 'rows');
});

test('a few slow statements are no sign', async () => {
  using scene = watched(() => false);
  const { watch, ask, tried } = scene;
  ask('prj_a');
  ask('prj_a');
  await delay(LONG_MS);
  expect(tried).toEqual([]);
  expect(watch.isAnyAway).toBe(false);
});

test('many that wait for long are cut off where no change is committed, though others are answered', async () => {
  let isBack = false;
  using scene = watched(() => isBack);
  const { watch, ask } = scene;
  const waiting = Array.from({ length: 3 }, () => ask('prj_a'));
  using _answered = answerAgainAndAgain(ask);
  await expect.poll(() => watch.isAway(1), { timeout: 10_000 }).toBe(true);
  for (const { take } of waiting) {
    expect(take).toHaveBeenCalledExactlyOnceWith(expect.any(ServiceUnavailable), undefined);
  }
  isBack = true;
  await expect.poll(() => watch.isAway(1), { timeout: 10_000 }).toBe(false);
});

test('a node that fails a trial, and answers those who have waited meanwhile, is only slow', async () => {
  const { promise: failed, resolve: fail } = Promise.withResolvers<boolean>();
  using scene = watched(() => failed);
  const { watch, ask, tried } = scene;
  const waiting = Array.from({ length: 3 }, () => ask('prj_a'));
  await expect.poll(() => tried.length, { timeout: 10_000 }).toBe(1);
  for (const { answer } of waiting) answer();
  fail(false);
  await delay(LONG_MS);
  expect(watch.isAnyAway).toBe(false);
});

test('a node that the coordinator has lost is tried at once', async () => {
  let isThere = false;
  using scene = watched(() => isThere);
  const { watch, ask } = scene;
  ask('prj_a').lose();
  await expect.poll(() => watch.isAway(1)).toBe(true);
  expect(watch.isAway(2)).toBe(false);
  isThere = true;
  await expect.poll(() => watch.isAway(1)).toBe(false);
  ask('prj_a').lose();
  await expect.poll(() => scene.tried.length).toBeGreaterThan(2);
  expect(watch.isAway(1)).toBe(false);
});

test('a node that answers a new connection only makes them wait', async () => {
  using scene = watched(() => true);
  const { watch, ask, tried, lines } = scene;
  const waiting = Array.from({ length: 4 }, () => ask('prj_b'));
  await expect.poll(() => tried.length).toBeGreaterThan(0);
  expect(watch.isAway(2)).toBe(false);
  expect(lines).toEqual([]);
  for (const { take, answer } of waiting) {
    answer();
    expect(take).toHaveBeenCalledExactlyOnceWith(null, 'rows');
  }
});
