import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import type { GrowthResult } from './growth.ts';

const HEIGHT = 220;
const WIDTH = 260;

/** Draws an SVG with a plot for each quantile and page, and a line for each measured request. */
export async function drawGrowth(results: GrowthResult[]): Promise<string> {
  const values = results.flatMap(({ request, position, rows, p50Ms, p99Ms }) => {
    const page = position ?? 'first page';
    return [
      { request, rows, plot: `p50, ${page}`, ms: p50Ms },
      { request, rows, plot: `p99, ${page}`, ms: p99Ms },
    ];
  });
  const spec: TopLevelSpec = {
    background: 'white',
    data: { values },
    columns: 2,
    facet: { field: 'plot', header: { title: null } },
    // Each plot has its own scale, because the p99 would flatten the lines of the p50.
    resolve: { scale: { y: 'independent' } },
    spec: {
      width: WIDTH,
      height: HEIGHT,
      mark: { type: 'line', point: true },
      encoding: {
        x: {
          field: 'rows',
          type: 'quantitative',
          scale: { type: 'log', nice: false },
          axis: { format: '~s', values: [...new Set(results.map(({ rows }) => rows))] },
        },
        y: { field: 'ms', type: 'quantitative', scale: { zero: true } },
        color: {
          field: 'request',
          type: 'nominal',
          title: null,
          legend: { labelLimit: 0 },
          scale: { scheme: 'tableau20' },
        },
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
