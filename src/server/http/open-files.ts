/** What the system lets this process have open at once: each connection is one of them. */

interface Report {
  userLimits?: { open_files?: { soft: number | 'unlimited' } };
}

let known: number | undefined;

/** The limit on file descriptors (`ulimit -n`), which Node has raised as far as it may; Infinity if there is none. */
export function openFilesMax(): number {
  known ??= readLimit();
  return known;
}

function readLimit(): number {
  // Its type does not know the setting yet. Without it, the names of all addresses are looked up.
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork: boolean };
  const { excludeNetwork } = report;
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as Report;
  report.excludeNetwork = excludeNetwork;
  const limit = Number(userLimits?.open_files?.soft);
  return Number.isNaN(limit) ? Number.POSITIVE_INFINITY : limit;
}
