/** Runs small pieces of work together at the end of a turn of the event loop. */
import { runOutsideTraces } from '../kernel/spans.ts';

let pendingWork: (() => void)[] = [];

/**
 * Runs the work when the pending input of this turn of the event loop has been read. One immediate costs less than one
 * for each call.
 */
export function atLoopTurnEnd(work: () => void): void {
  if (pendingWork.length === 0) runOutsideTraces(() => setImmediate(runAll));
  pendingWork.push(work);
}

function runAll(): void {
  const works = pendingWork;
  pendingWork = [];
  for (const work of works) work();
}
