/** Stops the process on a signal, or when the npm that runs it ends. */

/**
 * One stop may arrive as two signals: a terminal and some supervisors signal every process of a group, and npm
 * passes signals on.
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
  let firstAt: number | undefined;
  const take = (signal: string) => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      stop(signal);
    } else if (performance.now() - firstAt > SAME_SIGNAL_MS) {
      stopNow();
    }
  };
  process.on('SIGTERM', take);
  process.on('SIGINT', take);
}

/**
 * Calls back when the parent process is gone. A killed npm passes no signal on, and the server would keep the port and
 * the data folder.
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
