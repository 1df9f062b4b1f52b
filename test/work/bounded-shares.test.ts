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
  const heldShares = shares();
  expect(takeAll(heldShares, { caller: 'a', project: 'p' })).toEqual({
    taken: 3,
    usedUp: 'caller',
  });
  expect(takeAll(heldShares, { caller: 'b', project: 'p' })).toEqual({
    taken: 3,
    usedUp: 'caller',
  });
  expect(takeAll(heldShares, { caller: 'c', project: 'p' })).toEqual({
    taken: 0,
    usedUp: 'project',
  });
  expect(takeAll(heldShares, { caller: 'd', project: 'q' })).toEqual({
    taken: 3,
    usedUp: 'caller',
  });
  expect(heldShares.held).toBe(9);
});

test('leaves capacity for another holder after twenty greedy ones', () => {
  const heldShares = shares({ process: 100, project: 100, caller: 100 });
  for (let count = 0; count < 20; count += 1) {
    takeAll(heldShares, { caller: `greedy${count}`, project: `p${count}` });
  }
  expect(heldShares.take({ caller: 'quiet', project: 'quiet' })).toBeNull();
});

test('reports the process as full only when nothing is free', () => {
  const heldShares = shares({ process: 3 });
  const names = ['a', 'b', 'c', 'd'];
  const results = names.map((name) => heldShares.take({ caller: name, project: name }));
  expect(results).toEqual([null, null, null, 'process']);
});

test('makes a released share available again', () => {
  const heldShares = shares();
  const holder = { caller: 'a', project: 'p' };
  takeAll(heldShares, holder);
  heldShares.release(holder);
  expect(takeAll(heldShares, holder)).toEqual({ taken: 1, usedUp: 'caller' });
  for (let count = 0; count < 3; count += 1) heldShares.release(holder);
  expect(heldShares.held).toBe(0);
  expect(heldShares.countHolders('caller')).toBe(0);
});

test('counts work that must not be refused beyond the maximum', () => {
  const heldShares = shares({ process: 1 });
  const holder = { caller: 'a', project: 'p' };
  heldShares.take(holder);
  heldShares.add(holder);
  expect(heldShares.held).toBe(2);
  heldShares.release(holder);
  expect(heldShares.take(holder)).toBe('process');
});

test('does not limit a level that a holder lacks', () => {
  const heldShares = shares();
  expect(takeAll(heldShares, { project: 'p' })).toEqual({ taken: 6, usedUp: 'project' });
  expect(heldShares.listLargest()).toEqual([
    { level: 'caller', held: 0 },
    { level: 'project', held: 6 },
  ]);
});
