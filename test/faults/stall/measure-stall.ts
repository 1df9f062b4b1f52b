import type { Gateway } from '../fixtures/gateway.ts';

/** The maximum number of measurements. The least excludes garbage collections and the compilation of code. */
export const ROUNDS_MAX = 10;

/**
 * Runs `work` until the longest iteration of the event loop uses at most this CPU time. Returns the least time that was
 * measured, in milliseconds.
 */
export async function measureStall(
  gateway: Gateway,
  stallMsMax: number,
  work: () => Promise<unknown>,
): Promise<number> {
  let stallMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS_MAX && stallMs > stallMsMax; round += 1) {
    const stop = await gateway.watchTurns();
    await work();
    stallMs = Math.min(stallMs, await stop());
  }
  return stallMs;
}
