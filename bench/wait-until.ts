/** Polls a condition that a measurement waits for. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  pollMs: number;
  timeoutMs: number;
  /** The subject of the error after the timeout. */
  subject: string;
}

/** Returns when the condition is met. Throws after the timeout. */
export async function waitUntil(
  isMet: () => boolean | Promise<boolean>,
  { pollMs, timeoutMs, subject }: WaitOptions,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isMet())) {
    if (performance.now() > deadline)
      throw new Error(`${subject}: no progress in ${timeoutMs} ms.`);
    await sleep(pollMs);
  }
}
