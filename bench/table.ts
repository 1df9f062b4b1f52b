/** Prints tables. */
import type { Result } from './parts/requests.ts';
import { MEANINGS } from './workloads.ts';

type Cell = string | number;

/** Columns are as wide as their content; the first is text, the others are figures. */
export function formatTable(head: string[], rows: Cell[][]): string {
  const cells = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
        )
        .join('  '),
    )
    .join('\n');
}

/** Empty if not measured. */
export function formatNumber(value: number, digits: number): string {
  return Number.isNaN(value) ? '' : value.toFixed(digits);
}

/** The peer with which all are compared. */
export const LIMIT = 'limit';

/** One workload; ratios are to the limit, or to the first peer if the limit is not measured. */
export function formatWorkloadTable(results: Result[]): string {
  const [first] = results;
  if (!first) return '';
  const base = results.find(({ peer }) => peer === LIMIT) ?? first;
  const rows = results.map(({ peer, median }) => [
    peer,
    Math.round(median.requestsPerSecond),
    (median.requestsPerSecond / base.median.requestsPerSecond).toFixed(2),
    median.p50Ms.toFixed(2),
    median.p99Ms.toFixed(2),
    median.cpuMsPerRequest.toFixed(3),
    (base.median.cpuMsPerRequest / median.cpuMsPerRequest).toFixed(2),
    Math.round(median.memoryBytes / 2 ** 20),
    median.driverCpuMsPerRequest.toFixed(3),
  ]);
  const head = ['', 'req/s', 'ratio', 'p50 ms', 'p99 ms', 'cpu ms', 'by cpu', 'MB', 'driver'];
  return `${first.workload}: ${MEANINGS[first.workload]}\n${formatTable(head, rows)}\n`;
}
