/** Ends child processes when this process ends, even if it is killed. */
import { spawn } from 'node:child_process';

/**
 * Waits until the parent's end closes stdin, and then ends the process. A byte on stdin means that the
 * process has ended before.
 */
const WATCHER_PROGRAM = `
const [pid, signal, patienceMs] = [Number(process.argv[1]), process.argv[2], Number(process.argv[3])];
const send = (signal) => { try { process.kill(pid, signal); } catch { process.exit(); } };
process.stdin.once('data', () => process.exit());
process.stdin.once('end', () => {
  send(signal);
  setInterval(send, 100, 0);
  setTimeout(() => { send('SIGKILL'); process.exit(); }, patienceMs);
});`;

interface WatchedProcess {
  /** ID of the process. A negative number is the ID of a process group. */
  pid: number;
  signal: NodeJS.Signals;
  /** Time to exit after the signal, before SIGKILL. */
  patienceMs: number;
}

/** Returns a function to call when the process has ended. */
export function endWithParent({ pid, signal, patienceMs }: WatchedProcess): () => void {
  const args = ['--eval', WATCHER_PROGRAM, '--', String(pid), signal, String(patienceMs)];
  const watcher = spawn(process.execPath, args, {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // The watcher may exit before the write.
  watcher.stdin.on('error', () => {});
  return () => watcher.stdin.end('ended');
}
