/** Processes that end with this one, however it ends: a run that is killed outright leaves none behind. */
import { spawn } from 'node:child_process';

/** Waits for the end of whoever started it; a word from there says that there is nothing left to end. */
const WATCH = `
const [pid, signal, patienceMs] = [Number(process.argv[1]), process.argv[2], Number(process.argv[3])];
const send = (signal) => { try { process.kill(pid, signal); } catch { process.exit(); } };
process.stdin.once('data', () => process.exit());
process.stdin.once('end', () => {
  send(signal);
  setInterval(send, 100, 0);
  setTimeout(() => { send('SIGKILL'); process.exit(); }, patienceMs);
});`;

export interface Tie {
  /** Of the process, or of a group where it is negative. */
  pid: number;
  signal: NodeJS.Signals;
  /** Time to end by itself after the signal. */
  patienceMs: number;
}

/** Returns what to call when the process has ended. */
export function tie({ pid, signal, patienceMs }: Tie): () => void {
  const args = ['--eval', WATCH, '--', String(pid), signal, String(patienceMs)];
  const watch = spawn(process.execPath, args, {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // It may have ended before it is told to.
  watch.stdin.on('error', () => {});
  return () => watch.stdin.end('ended');
}
