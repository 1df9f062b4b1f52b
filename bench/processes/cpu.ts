/** The CPU time of processes, as Linux counts it. */
import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/** User and system time so far, of all its threads. */
export function cpuMs(pid: number): number {
  const { utime, stime } = statOf(pid);
  return (utime + stime) * TICK_MS;
}

/** Of a process and its children that run; what children have used that ended is its own. */
export function familyCpuMs(pid: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => parentOf(child) === pid);
  const { utime, stime, cutime, cstime } = statOf(pid);
  const own = (utime + stime + cutime + cstime) * TICK_MS;
  return children.reduce((sum, child) => sum + cpuMs(child), own);
}

function parentOf(pid: number): number | null {
  try {
    return statOf(pid).parent;
  } catch {
    // It has ended meanwhile.
    return null;
  }
}

/** The second field of /proc/<pid>/stat may hold spaces, so it is cut off first. */
function statOf(pid: number) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [, parent = 0] = fields;
  const [utime = 0, stime = 0, cutime = 0, cstime = 0] = fields.slice(11, 15);
  return { parent, utime, stime, cutime, cstime };
}
