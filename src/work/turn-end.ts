/** Runs small pieces of work together at the end of a turn of the event loop. */
import { runOutsideTraces } from '../kernel/spans.ts';

let pendingWork: (() => void)[] = [];

/** Runs the work when the pending input of this turn has been read. One immediate per turn costs less than one per call. */
export function atTurnEnd(work: () => void): void {
  if (pendingWork.length === 0) runOutsideTraces(() => setImmediate(runAll));
  pendingWork.push(work);
}

function runAll(): void {
  const works = pendingWork;
  pendingWork = [];
  for (const work of works) work();
}
