/** Draws an endurance run: a panel for each measurement, with a line for each database. */
import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import type { Sample } from './watch.ts';

const MEASUREMENTS: [string, (sample: Sample) => number | null][] = [
  ['memory, MiB', ({ memoryMib }) => memoryMib],
  ['descriptors', ({ descriptors }) => descriptors],
  ['connections to the database', ({ connections }) => connections],
  ['dead rows, %', ({ deadPercent }) => deadPercent],
  ['database, MiB', ({ databaseMib }) => databaseMib],
  ['requests a second', ({ perSecond }) => perSecond],
  ['p50, ms', ({ p50Ms }) => p50Ms],
  ['p99, ms', ({ p99Ms }) => p99Ms],
];

export async function drawEndurance(
  runs: readonly { database: string; samples: readonly Sample[] }[],
): Promise<string> {
  const values = runs.flatMap(({ database, samples }) =>
    samples.flatMap((sample) =>
      MEASUREMENTS.map(([measurement, read]) => ({
        database,
        measurement,
        minutes: sample.seconds / 60,
        value: read(sample),
      })),
    ),
  );
  const spec: TopLevelSpec = {
    background: 'white',
    data: { values: values.filter(({ value }) => value !== null) },
    columns: 2,
    facet: {
      field: 'measurement',
      header: { title: null },
      sort: MEASUREMENTS.map(([measurement]) => measurement),
    },
    resolve: { scale: { y: 'independent' } },
    spec: {
      width: 320,
      height: 120,
      mark: { type: 'line', strokeWidth: 1 },
      encoding: {
        x: { field: 'minutes', type: 'quantitative' },
        y: { field: 'value', type: 'quantitative', title: null, scale: { zero: true } },
        color: { field: 'database', type: 'nominal', title: null },
      },
    },
  };
  const view = new View(parse(compile(spec).spec), { renderer: 'none' });
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}
