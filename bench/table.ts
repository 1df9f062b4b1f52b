/** Formats tables. */
import type { WorkloadResult } from './parts/requests.ts';
import { WORKLOAD_DESCRIPTIONS } from './workloads.ts';

type Cell = string | number;

/** Aligns the first column to the left, as text, and the others to the right, as figures. */
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

/** Returns an empty string for a figure that was not measured. */
export function formatNumber(value: number, digits: number): string {
  return Number.isNaN(value) ? '' : value.toFixed(digits);
}

/** The peer that all other peers are compared with. */
export const LIMIT = 'limit';

/** Formats the results of one workload. Ratios are to the limit, or to the first peer if the limit was not measured. */
export function formatWorkloadTable(results: WorkloadResult[]): string {
  const [firstResult] = results;
  if (!firstResult) return '';
  const base = results.find(({ peer }) => peer === LIMIT) ?? firstResult;
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
  return `${firstResult.workload}: ${WORKLOAD_DESCRIPTIONS[firstResult.workload]}\n${formatTable(head, rows)}\n`;
}
