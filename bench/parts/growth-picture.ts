import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import type { Growth } from './growth.ts';

const HEIGHT = 220;
const WIDTH = 260;

/** An SVG with a plot for each kind of page, and a line for each list. */
export async function growthPicture(results: Growth[]): Promise<string> {
  const values = results.flatMap(({ what, rows, p50Ms, p99Ms }) => {
    const [list, depth] = what.split(', ');
    const position = depth ? 'deep in the list' : 'at its start';
    return [
      { list, rows, plot: `p50, ${position}`, ms: p50Ms },
      { list, rows, plot: `p99, ${position}`, ms: p99Ms },
    ];
  });
  const spec: TopLevelSpec = {
    background: 'white',
    data: { values },
    columns: 2,
    facet: { field: 'plot', header: { title: null } },
    // The highest of a hundred would flatten the lines of the others.
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
          field: 'list',
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
