/** The CPU time of processes, as Linux counts it. */
import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/** Returns the user and system time of all threads of a process so far. */
export function readProcessCpuMs(pid: number): number {
  const { utime, stime } = readStat(pid);
  return (utime + stime) * TICK_MS;
}

/**
 * Returns the user and system time of a process and its children so far. The time of a parent includes its ended children.
 * A child that ends during the measurement is omitted.
 */
export function readProcessTreeCpuMs(pid: number): number {
  const children = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readStat(Number(name));
      return stat.parent === pid ? [stat.utime + stat.stime] : [];
    } catch {
      return [];
    }
  });
  const { utime, stime, cutime, cstime } = readStat(pid);
  return [utime, stime, cutime, cstime, ...children].reduce((sum, ticks) => sum + ticks) * TICK_MS;
}

/** Reads the fields of /proc/<pid>/stat after the second one, which may contain spaces. */
function readStat(pid: number) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [, parent = 0] = fields;
  const [utime = 0, stime = 0, cutime = 0, cstime = 0] = fields.slice(11, 15);
  return { parent, utime, stime, cutime, cstime };
}
