/** Figures that must stay flat: medians of a window after the warm-up and of the last window. */
import { quantile } from '../median.ts';
import type { Sample } from './watch.ts';

export interface Growth {
  what: string;
  unit: string;
  early: number;
  late: number;
  /** The growth that counts as flat: a ratio, and an absolute amount that is negligible at any ratio. */
  shareMax: number;
  leastOf: number;
}

/** The first ten minutes of an hour. */
const WARM_UP = 1 / 6;
const WINDOW = 1 / 6;

/** The database itself grows, because it keeps finished work for RETENTION_DAYS. */
const WATCHED = [
  { what: 'memory', unit: 'MiB', shareMax: 0.15, leastOf: 32, of: (one: Sample) => one.memoryMib },
  {
    what: 'descriptors',
    unit: '',
    shareMax: 0.1,
    leastOf: 20,
    of: (one: Sample) => one.descriptors,
  },
  { what: 'connections', unit: '', shareMax: 0, leastOf: 2, of: (one: Sample) => one.connections },
  {
    what: 'dead rows',
    unit: '%',
    shareMax: 0.5,
    leastOf: 10,
    of: (one: Sample) => one.deadPercent,
  },
  { what: 'p50', unit: 'ms', shareMax: 0.25, leastOf: 5, of: (one: Sample) => one.p50Ms },
  { what: 'p99', unit: 'ms', shareMax: 0.5, leastOf: 50, of: (one: Sample) => one.p99Ms },
];

export function growthOf(samples: readonly Sample[]): Growth[] {
  const from = Math.floor(samples.length * WARM_UP);
  const count = Math.max(1, Math.floor(samples.length * WINDOW));
  const [early, late] = [samples.slice(from, from + count), samples.slice(-count)];
  return WATCHED.flatMap(({ of, ...about }) => {
    const median = (some: readonly Sample[]) => {
      const values = some.map(of).filter((value) => value !== null);
      return quantile(Float64Array.from(values).sort(), 0.5);
    };
    const growth = { ...about, early: median(early), late: median(late) };
    return Number.isNaN(growth.early) ? [] : [growth];
  });
}

export function isFlat({ early, late, shareMax, leastOf }: Growth): boolean {
  return late - early <= Math.max(early * shareMax, leastOf);
}
