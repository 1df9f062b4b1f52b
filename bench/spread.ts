/** Combines several runs: the median, and the spread of the others. */
import { quantile } from './median.ts';
import type { Result } from './parts/requests.ts';
import { formatTable, LIMIT } from './table.ts';

interface Ratios {
  workload: string;
  peer: string;
  ratio: number;
  byCpu: number;
  p99Ms: number;
}

/** A line for each peer and workload: medians over the runs, with the lowest and the highest. */
export function formatSpreadTable(runs: readonly Result[][]): string {
  const all = runs.flatMap(computeRatios);
  const lines = [...Map.groupBy(all, ({ workload, peer }) => `${workload} ${peer}`)];
  const rows = lines.map(([name, ratios]) => [
    name,
    spread(ratios.map(({ ratio }) => ratio)),
    spread(ratios.map(({ byCpu }) => byCpu)),
    spread(ratios.map(({ p99Ms }) => p99Ms)),
  ]);
  const head = ['', 'ratio', 'by cpu', 'p99 ms'];
  return `Medians of ${runs.length} runs (lowest to highest)\n${formatTable(head, rows)}\n`;
}

/** Ratio to the limit of the same run, because machines and runs differ from hour to hour. */
function computeRatios(results: Result[]): Ratios[] {
  return results.map(({ workload, peer, median }) => {
    const ofWorkload = results.filter((other) => other.workload === workload);
    const base = (ofWorkload.find((other) => other.peer === LIMIT) ?? ofWorkload[0]!).median;
    return {
      workload,
      peer,
      ratio: median.requestsPerSecond / base.requestsPerSecond,
      byCpu: base.cpuMsPerRequest / median.cpuMsPerRequest,
      p99Ms: median.p99Ms,
    };
  });
}

function spread(figures: number[]): string {
  const sorted = figures.toSorted((a, b) => a - b);
  const [middle, lowest, highest] = [quantile(sorted, 0.5), sorted[0]!, sorted.at(-1)!];
  return `${middle.toFixed(2)} (${lowest.toFixed(2)} to ${highest.toFixed(2)})`;
}
