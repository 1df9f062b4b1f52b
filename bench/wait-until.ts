/** Polls a condition that a measurement waits for. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Wait {
  pollMs: number;
  timeoutMs: number;
  /** The subject of the error after the timeout. */
  what: string;
}

/** Throws after the timeout. */
export async function waitUntil(
  isMet: () => boolean | Promise<boolean>,
  { pollMs, timeoutMs, what }: Wait,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isMet())) {
    if (performance.now() > deadline) throw new Error(`${what}: no progress in ${timeoutMs} ms.`);
    await sleep(pollMs);
  }
}
