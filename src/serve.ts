/** Reads the configuration, creates the app, listens, and stops when told to. */
import { type App, createApp } from './app.ts';
import { readConfig } from './config.ts';
import { StartRefused } from './errors.ts';
import { createLog } from './log.ts';
import { refuseOccupiedPorts } from './process/ports.ts';
import { onParentGone, onStopSignal } from './process/signals.ts';

let app: App | undefined;
let isStopping = false;

function stop(reason: string): void {
  if (isStopping) return;
  isStopping = true;
  // Before the start nothing is held, and a start may be cut off anywhere.
  if (!app) process.exit(0);
  const { config, log } = app.services;
  log.info({ reason }, 'server.stopping');
  const { stopsWaitFor } = app;
  setTimeout(() => {
    log.error({ givenUp: stopsWaitFor() }, 'server.stop_given_up');
    process.exit(1);
  }, config.DRAIN_MS + config.SHUTDOWN_MS);
  stopped(app).then(
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

async function stopped(running: App): Promise<void> {
  await running.drain();
  await running[Symbol.asyncDispose]();
}

async function serve(): Promise<void> {
  const config = readConfig(process.env);
  await refuseOccupiedPorts(config);
  const isForPerson = process.stdout.isTTY;
  // Loaded only for a terminal: it would lengthen every start.
  const terminal = isForPerson ? await import('./process/terminal.ts') : null;
  const { LOG_LEVEL } = config;
  const log = terminal ? terminal.createTerminalLog(LOG_LEVEL) : createLog(LOG_LEVEL);
  app = await createApp(config, { log });
  const { url, demoFile } = await app.start();
  if (!terminal) return;
  process.stdout.write(terminal.greeting({ url, sandboxUrl: app.services.sandboxUrl(), demoFile }));
}

onStopSignal({ stop, stopNow: () => process.exit(1) });
// Only npm waits for its child: another parent may end first.
if (process.env.npm_lifecycle_event === 'start') onParentGone(() => stop('npm is gone'));
try {
  await serve();
} catch (error) {
  // A start that a signal cuts off fails in many ways; none of these errors is of interest.
  if (!isStopping) {
    console.error(error instanceof StartRefused ? error.message : error);
    process.exit(1);
  }
}
