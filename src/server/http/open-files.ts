/** The number of open files that the system permits this process. Each connection uses one. */

interface Report {
  userLimits?: { open_files?: { soft: number | 'unlimited' } };
}

let cached: number | undefined;

/** The limit on file descriptors (`ulimit -n`), which Node raises as far as permitted. Infinity if there is none. */
export function openFilesMax(): number {
  cached ??= readLimit();
  return cached;
}

function readLimit(): number {
  // The type lacks this setting. Without it, Node resolves the names of all network addresses.
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork: boolean };
  const { excludeNetwork } = report;
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as Report;
  report.excludeNetwork = excludeNetwork;
  const limit = Number(userLimits?.open_files?.soft);
  return Number.isNaN(limit) ? Number.POSITIVE_INFINITY : limit;
}
