/** Compares figures that must not grow: their medians in a window after the warm-up and in the last window. */
import { computeQuantile } from '../statistics.ts';
import type { Sample } from './watch.ts';

export interface FigureGrowth {
  name: string;
  unit: string;
  early: number;
  late: number;
  /** Growth up to this share of the early figure, or up to the negligible amount, counts as flat. */
  shareMax: number;
  negligible: number;
}

/** The share of the run before the first window: ten minutes of an hour. */
const WARM_UP_SHARE = 1 / 6;
const WINDOW_SHARE = 1 / 6;

/** The figures that must not grow. The size of the database may grow, because it keeps finished work for RETENTION_DAYS. */
const WATCHED_FIGURES = [
  {
    name: 'memory',
    unit: 'MiB',
    shareMax: 0.15,
    negligible: 32,
    read: (sample: Sample) => sample.memoryMib,
  },
  {
    name: 'descriptors',
    unit: '',
    shareMax: 0.1,
    negligible: 20,
    read: (sample: Sample) => sample.descriptors,
  },
  {
    name: 'connections',
    unit: '',
    shareMax: 0,
    negligible: 2,
    read: (sample: Sample) => sample.connections,
  },
  {
    name: 'dead rows',
    unit: '%',
    shareMax: 0.5,
    negligible: 10,
    read: (sample: Sample) => sample.deadPercent,
  },
  {
    name: 'p50',
    unit: 'ms',
    shareMax: 0.25,
    negligible: 5,
    read: (sample: Sample) => sample.p50Ms,
  },
  {
    name: 'p99',
    unit: 'ms',
    shareMax: 0.5,
    negligible: 50,
    read: (sample: Sample) => sample.p99Ms,
  },
];

export function compareWindows(samples: readonly Sample[]): FigureGrowth[] {
  const from = Math.floor(samples.length * WARM_UP_SHARE);
  const count = Math.max(1, Math.floor(samples.length * WINDOW_SHARE));
  const [early, late] = [samples.slice(from, from + count), samples.slice(-count)];
  return WATCHED_FIGURES.flatMap(({ read, ...figure }) => {
    const computeWindowMedian = (window: readonly Sample[]) => {
      const values = window.map(read).filter((value) => value !== null);
      return computeQuantile(Float64Array.from(values).sort(), 0.5);
    };
    const growth = {
      ...figure,
      early: computeWindowMedian(early),
      late: computeWindowMedian(late),
    };
    return Number.isNaN(growth.early) ? [] : [growth];
  });
}

export function isFlat({ early, late, shareMax, negligible }: FigureGrowth): boolean {
  return late - early <= Math.max(early * shareMax, negligible);
}
