import { expect, test } from 'vitest';
import { coalesced } from '../../src/work/coalesced.ts';

function countedRuns() {
  const runs: PromiseWithResolvers<number>[] = [];
  const ask = coalesced(() => {
    const run = Promise.withResolvers<number>();
    runs.push(run);
    return run.promise;
  });
  return { runs, ask };
}

const turn = () => new Promise(setImmediate);

test('who asks while work is under way gets the result of the next run, together with the others', async () => {
  const { runs, ask } = countedRuns();
  const first = [ask(), ask()];
  await turn();
  const second = [ask(), ask(), ask()];
  await turn();
  expect(runs).toHaveLength(1);
  runs[0]?.resolve(1);
  expect(await Promise.all(first)).toEqual([1, 1]);
  await turn();
  expect(runs).toHaveLength(2);
  runs[1]?.resolve(2);
  expect(await Promise.all(second)).toEqual([2, 2, 2]);
});

test('a run that fails fails for those who share it, and the next one begins', async () => {
  const { runs, ask } = countedRuns();
  const failed = expect(ask()).rejects.toThrow('no');
  await turn();
  const next = ask();
  runs[0]?.reject(new Error('no'));
  await failed;
  await turn();
  runs[1]?.resolve(2);
  expect(await next).toBe(2);
});
