interface Report {
  userLimits?: { open_files?: { soft: number | 'unlimited' } };
}

/**
 * Returns the number of files that this process may open (`ulimit -n`), of which each connection uses one. Node raises
 * the limit as far as permitted. Infinity without a limit.
 */
export function readOpenFilesMax(): number {
  // The type lacks this setting. Without it, Node resolves the names of all network addresses.
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork: boolean };
  const { excludeNetwork } = report;
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as Report;
  report.excludeNetwork = excludeNetwork;
  const limit = Number(userLimits?.open_files?.soft);
  return Number.isNaN(limit) ? Number.POSITIVE_INFINITY : limit;
}
