/** Reads the configuration, starts the app, and stops it on a signal. */
import { type App, createApp } from '../app.ts';
import { StartRefused } from '../kernel/errors.ts';
import { createLog } from '../kernel/log.ts';
import { requireUsablePorts } from '../process/ports.ts';
import { hasApiRole } from '../server/http/http-front-end.ts';
import { readConfig } from '../settings/config.ts';

/**
 * Signals within this time are one stop. A terminal and some supervisors signal every process of a group, and npm passes
 * the signal on a second time.
 */
const SAME_SIGNAL_MS = 1_000;
const PARENT_CHECK_MS = 1_000;

let app: App | undefined;
let isStopping = false;

function stop(reason: string): void {
  if (isStopping) return;
  isStopping = true;
  // A start can be interrupted at any point without harm, so there is nothing to clean up before it completes.
  if (!app) process.exit(0);
  const { config, log } = app.services;
  log.info({ reason }, 'server.stopping');
  const { listRunningStops } = app;
  setTimeout(() => {
    log.error({ pendingSteps: listRunningStops() }, 'server.stop_timed_out');
    process.exit(1);
  }, config.DRAIN_MS + config.SHUTDOWN_MS);
  stopApp(app).then(
    () => {
      log.info('server.stopped');
      process.exit(0);
    },
    (error: unknown) => {
      log.error({ err: error }, 'server.stop_failed');
      process.exit(1);
    },
  );
}

async function stopApp(running: App): Promise<void> {
  await running.drain();
  await running[Symbol.asyncDispose]();
}

async function serve(): Promise<void> {
  const config = readConfig(process.env);
  await requireUsablePorts(config);
  const isInteractive = process.stdout.isTTY;
  // Loaded only for a terminal, because it would slow down every start.
  const terminal = isInteractive ? await import('../process/terminal.ts') : null;
  const { LOG_LEVEL } = config;
  const log = terminal ? terminal.createTerminalLog(LOG_LEVEL) : createLog(LOG_LEVEL);
  app = await createApp(config, { log });
  const { url, demoFile } = await app.start();
  if (!terminal) return;
  const isApi = hasApiRole(config);
  const sandboxUrl = app.services.sandboxUrl();
  process.stdout.write(terminal.formatGreeting({ url, sandboxUrl, demoFile, isApi }));
}

/** Stops the app at the first signal, and ends the process at a later one. */
function stopOnSignals(): void {
  let firstMs: number | undefined;
  const onSignal = (signal: string) => {
    if (firstMs === undefined) {
      firstMs = performance.now();
      stop(signal);
    } else if (performance.now() - firstMs > SAME_SIGNAL_MS) {
      process.exit(1);
    }
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/**
 * Stops the app when npm has ended. A killed npm passes no signal on, so the server would otherwise keep the port and the
 * data folder.
 */
function stopWithNpm(): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop('npm is gone');
  }, PARENT_CHECK_MS);
  timer.unref();
}

stopOnSignals();
// Only npm waits for its child process. Another parent may exit first.
if (process.env.npm_lifecycle_event === 'start') stopWithNpm();
try {
  await serve();
} catch (error) {
  // An interrupted start can fail in many ways, which are not reported.
  if (!isStopping) {
    console.error(error instanceof StartRefused ? error.message : error);
    process.exit(1);
  }
}
