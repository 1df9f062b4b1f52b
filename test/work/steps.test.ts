import { expect, test } from 'vitest';
import { isLongValue, runSteps, runStepsInLoopTurns } from '../../src/work/steps.ts';

test('runs other work between the steps, and returns their result', async () => {
  let turns = 0;
  const countTurns = () => {
    turns += 1;
    if (turns < 3) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  const steps = (function* () {
    // Without other work in between, the loop ends at the number of steps.
    for (let step = 0; step < 10_000_000 && turns < 3; step += 1) yield;
    return turns;
  })();
  expect(await runStepsInLoopTurns(steps)).toBe(3);
});

test('runs all steps in one turn, and throws their error', async () => {
  const createSteps = function* (isWrong: boolean) {
    yield;
    if (isWrong) throw new Error('wrong');
    return 'done';
  };
  expect(runSteps(createSteps(false))).toBe('done');
  expect(() => runSteps(createSteps(true))).toThrow('wrong');
  await expect(runStepsInLoopTurns(createSteps(true))).rejects.toThrow('wrong');
});

test('counts items of lists and objects at any depth', () => {
  const lists = Array.from({ length: 100 }, () => Array.from({ length: 10 }, () => 1));
  const objects = Object.fromEntries(lists.map((list, index) => [`key${index}`, { list }]));
  expect(isLongValue(lists)).toBe(true);
  expect(isLongValue(objects)).toBe(true);
  expect(isLongValue(lists.slice(20))).toBe(false);
  expect(isLongValue('x'.repeat(10_000))).toBe(false);
});
