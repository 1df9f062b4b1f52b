import { expect, test } from 'vitest';
import { BoundedShares, type Holder } from '../../src/work/bounded-shares.ts';

function shares({ process = 24, project = 6, caller = 3 } = {}) {
  return new BoundedShares({
    process,
    levels: [
      { level: 'caller', max: caller },
      { level: 'project', max: project },
    ],
  });
}

/** Takes until a share is refused. Returns how many it took, and the level that was used up. */
function takeAll(from: BoundedShares, holder: Holder) {
  for (let taken = 0; ; taken += 1) {
    const usedUp = from.take(holder);
    if (usedUp) return { taken, usedUp };
  }
}

test('limits a caller, a project and the process', () => {
  const some = shares();
  expect(takeAll(some, { caller: 'a', project: 'p' })).toEqual({ taken: 3, usedUp: 'caller' });
  expect(takeAll(some, { caller: 'b', project: 'p' })).toEqual({ taken: 3, usedUp: 'caller' });
  expect(takeAll(some, { caller: 'c', project: 'p' })).toEqual({ taken: 0, usedUp: 'project' });
  expect(takeAll(some, { caller: 'd', project: 'q' })).toEqual({ taken: 3, usedUp: 'caller' });
  expect(some.held).toBe(9);
});

test('leaves capacity for another holder after twenty greedy ones', () => {
  const some = shares({ process: 100, project: 100, caller: 100 });
  for (let count = 0; count < 20; count += 1) {
    takeAll(some, { caller: `greedy${count}`, project: `p${count}` });
  }
  expect(some.take({ caller: 'quiet', project: 'quiet' })).toBeNull();
});

test('reports the process as full only when nothing is free', () => {
  const some = shares({ process: 3 });
  const names = ['a', 'b', 'c', 'd'];
  const results = names.map((name) => some.take({ caller: name, project: name }));
  expect(results).toEqual([null, null, null, 'process']);
});

test('makes a released share available again', () => {
  const some = shares();
  const holder = { caller: 'a', project: 'p' };
  takeAll(some, holder);
  some.release(holder);
  expect(takeAll(some, holder)).toEqual({ taken: 1, usedUp: 'caller' });
  for (let count = 0; count < 3; count += 1) some.release(holder);
  expect(some.held).toBe(0);
  expect(some.countHolders('caller')).toBe(0);
});

test('counts work that must not be refused beyond the maximum', () => {
  const some = shares({ process: 1 });
  const holder = { caller: 'a', project: 'p' };
  some.take(holder);
  some.add(holder);
  expect(some.held).toBe(2);
  some.release(holder);
  expect(some.take(holder)).toBe('process');
});

test('does not limit a level that a holder lacks', () => {
  const some = shares();
  expect(takeAll(some, { project: 'p' })).toEqual({ taken: 6, usedUp: 'project' });
  expect(some.listLargest()).toEqual([
    { level: 'caller', held: 0 },
    { level: 'project', held: 6 },
  ]);
});
