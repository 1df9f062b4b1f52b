import { expect, test } from 'vitest';
import { BoundedShares, type Holder } from '../../src/work/bounded-shares.ts';

function createShares({ process = 24, project = 6, caller = 3 } = {}) {
  return new BoundedShares({
    process,
    levels: [
      { level: 'caller', max: caller },
      { level: 'project', max: project },
    ],
  });
}

/** Takes shares until one is refused. Returns the number of taken shares, and the exhausted level. */
function takeAll(shares: BoundedShares, holder: Holder) {
  for (let taken = 0; ; taken += 1) {
    const exhausted = shares.take(holder);
    if (exhausted) return { taken, exhausted };
  }
}

test('limits a caller, a project and the process', () => {
  const shares = createShares();
  expect(takeAll(shares, { caller: 'a', project: 'p' })).toEqual({
    taken: 3,
    exhausted: 'caller',
  });
  expect(takeAll(shares, { caller: 'b', project: 'p' })).toEqual({
    taken: 3,
    exhausted: 'caller',
  });
  expect(takeAll(shares, { caller: 'c', project: 'p' })).toEqual({
    taken: 0,
    exhausted: 'project',
  });
  expect(takeAll(shares, { caller: 'd', project: 'q' })).toEqual({
    taken: 3,
    exhausted: 'caller',
  });
  expect(shares.held).toBe(9);
});

test('leaves capacity for another holder after twenty greedy holders', () => {
  const shares = createShares({ process: 100, project: 100, caller: 100 });
  for (let count = 0; count < 20; count += 1) {
    takeAll(shares, { caller: `greedy${count}`, project: `p${count}` });
  }
  expect(shares.take({ caller: 'quiet', project: 'quiet' })).toBeNull();
});

test('reports the process as full only when nothing is free', () => {
  const shares = createShares({ process: 3 });
  const names = ['a', 'b', 'c', 'd'];
  const results = names.map((name) => shares.take({ caller: name, project: name }));
  expect(results).toEqual([null, null, null, 'process']);
});

test('allows a released share to be taken again', () => {
  const shares = createShares();
  const holder = { caller: 'a', project: 'p' };
  takeAll(shares, holder);
  shares.release(holder);
  expect(takeAll(shares, holder)).toEqual({ taken: 1, exhausted: 'caller' });
  for (let count = 0; count < 3; count += 1) shares.release(holder);
  expect(shares.held).toBe(0);
  expect(shares.countHolders('caller')).toBe(0);
});

test('counts work that must not be refused beyond the maximum', () => {
  const shares = createShares({ process: 1 });
  const holder = { caller: 'a', project: 'p' };
  shares.take(holder);
  shares.add(holder);
  expect(shares.held).toBe(2);
  shares.release(holder);
  expect(shares.take(holder)).toBe('process');
});

test('does not limit a holder at a level that it does not name', () => {
  const shares = createShares();
  expect(takeAll(shares, { project: 'p' })).toEqual({ taken: 6, exhausted: 'project' });
  expect(shares.listLargest()).toEqual([
    { level: 'caller', held: 0 },
    { level: 'project', held: 6 },
  ]);
});
