/** Detects that the process must stop: on a signal, or when the npm that runs it ends. */

/**
 * Signals within this time are one stop. A terminal and some supervisors signal every process of a group, and npm passes
 * the signal on a second time.
 */
const SAME_SIGNAL_MS = 1_000;
const PARENT_CHECK_MS = 1_000;

interface StopHandlers {
  /** Called for the first signal. */
  stop: (reason: string) => void;
  /** Called for a later signal: the process ends immediately. */
  stopNow: () => void;
}

/** Calls the handlers on SIGTERM and SIGINT. */
export function onStopSignal({ stop, stopNow }: StopHandlers): void {
  let firstMs: number | undefined;
  const onSignal = (signal: string) => {
    if (firstMs === undefined) {
      firstMs = performance.now();
      stop(signal);
    } else if (performance.now() - firstMs > SAME_SIGNAL_MS) {
      stopNow();
    }
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/**
 * Calls back when the parent process has ended. A killed npm passes no signal on, so the server would otherwise keep the
 * port and the data folder.
 */
export function onParentGone(callback: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, PARENT_CHECK_MS);
  timer.unref();
}
