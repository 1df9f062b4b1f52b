/** Reads the configuration, creates the app, listens, and stops when told to. */
import { createApp } from './app.ts';
import { ConfigError, readConfig } from './config.ts';
import { DataFolderInUse } from './database/data-folder-lock.ts';

try {
  const config = readConfig(process.env);
  const app = await createApp(config);
  await app.start();
  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // The second signal means it: the process ends at once.
      if (stopping) process.exit(1);
      stopping = true;
      app.services.log.info({ signal }, 'stopping');
      app[Symbol.asyncDispose]().then(
        () => process.exit(0),
        (error: unknown) => {
          app.services.log.error({ err: error }, 'stopped with an error');
          process.exit(1);
        },
      );
    });
  }
} catch (error) {
  const isForPeople = error instanceof ConfigError || error instanceof DataFolderInUse;
  console.error(isForPeople ? error.message : error);
  process.exit(1);
}
