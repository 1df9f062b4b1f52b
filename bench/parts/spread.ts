/** Prints the medians of several runs, with their spread. */

import { computeQuantile } from '../statistics.ts';
import { formatTable, LIMIT } from '../table.ts';
import type { WorkloadResult } from './requests.ts';

interface Ratios {
  workload: string;
  peer: string;
  ratio: number;
  byCpu: number;
  p99Ms: number;
}

/** Returns a table with a line for each workload and peer: the median of the runs, the lowest and the highest. */
export function formatSpreadTable(runs: readonly WorkloadResult[][]): string {
  const ratiosOfRuns = runs.flatMap(computeRatios);
  const lines = [...Map.groupBy(ratiosOfRuns, ({ workload, peer }) => `${workload} ${peer}`)];
  const rows = lines.map(([name, ratios]) => [
    name,
    formatSpread(ratios.map(({ ratio }) => ratio)),
    formatSpread(ratios.map(({ byCpu }) => byCpu)),
    formatSpread(ratios.map(({ p99Ms }) => p99Ms)),
  ]);
  const head = ['', 'ratio', 'by cpu', 'p99 ms'];
  return `Medians of ${runs.length} runs (lowest to highest)\n${formatTable(head, rows)}\n`;
}

/** Returns ratios to the limit of the same run, because the speed of a machine differs from hour to hour. */
function computeRatios(results: WorkloadResult[]): Ratios[] {
  return results.map(({ workload, peer, median }) => {
    const workloadResults = results.filter((result) => result.workload === workload);
    const base = (workloadResults.find((result) => result.peer === LIMIT) ?? workloadResults[0]!)
      .median;
    return {
      workload,
      peer,
      ratio: median.requestsPerSecond / base.requestsPerSecond,
      byCpu: base.cpuMsPerRequest / median.cpuMsPerRequest,
      p99Ms: median.p99Ms,
    };
  });
}

function formatSpread(figures: number[]): string {
  const sorted = figures.toSorted((a, b) => a - b);
  const [middle, lowest, highest] = [computeQuantile(sorted, 0.5), sorted[0]!, sorted.at(-1)!];
  return `${middle.toFixed(2)} (${lowest.toFixed(2)} to ${highest.toFixed(2)})`;
}
