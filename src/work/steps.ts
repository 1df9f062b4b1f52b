/**
 * Long work in steps. A generator yields between two steps, so that the same code runs in one turn of the event loop for
 * short inputs, and in several turns for long ones.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { LEVELS_MAX } from './bounded-parse.ts';

/** Work that returns T. It yields where another turn of the event loop may begin. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Steps run in the same turn of the event loop until they have taken this long. */
const LOOP_TURN_MS = 5;
/** The maximum number of objects and items of lists in a short value. Reading this many takes a few milliseconds. */
const SHORT_VALUE_ITEMS_MAX = 1_000;

/** Runs all steps in this turn of the event loop. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Runs the steps in several turns of the event loop, so that other work runs in between. */
export async function runStepsInLoopTurns<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    await yieldToEventLoop();
    const endMs = performance.now() + LOOP_TURN_MS;
    do {
      const { done, value } = steps.next();
      if (done) return value;
    } while (performance.now() < endMs);
  }
}

/** True if reading a value takes so long that it must be read in several turns of the event loop. */
export function isLongValue(value: unknown): boolean {
  return countItems(value, SHORT_VALUE_ITEMS_MAX) > SHORT_VALUE_ITEMS_MAX;
}

/** Counts objects and items of lists, up to slightly more than the maximum. */
function countItems(value: unknown, countMax: number, level = 0): number {
  if (typeof value !== 'object' || value === null || level > LEVELS_MAX) return 0;
  let count = Array.isArray(value) ? value.length : 1;
  for (const key in value) {
    if (count > countMax) break;
    count += countItems(value[key as keyof typeof value], countMax - count, level + 1);
  }
  return count;
}
