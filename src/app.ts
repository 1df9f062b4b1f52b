/** Builds everything in order. What a test wants to replace comes in as an override. */
import type { Config } from './config.ts';
import { type Database, openDatabase } from './database/database.ts';
import { createAdmission } from './domain/admission.ts';
import { type BearerVerifier, createBearerVerifier } from './domain/bearer.ts';
import type { Services } from './domain/call.ts';
import { createCatalogue } from './domain/catalogue.ts';
import { encryptionKeys } from './domain/encryption-keys.ts';
import { createViewerCache } from './domain/viewer.ts';
import { createGateway } from './graphql/gateway.ts';
import { createLog, type Log } from './log.ts';
import type { Provider } from './providers/provider.ts';
import { createVault } from './secrets.ts';
import { createHandler, type Handler } from './server/handler.ts';

export interface Overrides {
  log?: Log;
  /** An open database, which the app takes over. */
  database?: Database;
  now?: () => Date;
  providers?: Provider[];
}

export interface App extends AsyncDisposable {
  services: Services;
  verifier: BearerVerifier;
  handler: Handler;
  setReady(ready: boolean): void;
}

export async function createApp(config: Config, overrides: Overrides = {}): Promise<App> {
  const log = overrides.log ?? createLog(config.LOG_LEVEL);
  await using stack = new AsyncDisposableStack();
  const database = stack.use(overrides.database ?? (await openDatabase(config, log)));
  const verifier = await createBearerVerifier(config);
  const services: Services = {
    config,
    log,
    database,
    vault: createVault(encryptionKeys(config)),
    catalogue: createCatalogue(overrides.providers ?? []),
    viewers: createViewerCache(),
    now: overrides.now ?? (() => new Date()),
  };
  const gateway = createGateway(services, createAdmission(services, verifier, config), () => []);
  let ready = false;
  const handler = createHandler({ log, database, gateway, isReady: () => ready });
  const resources = stack.move();
  return {
    services,
    verifier,
    handler,
    setReady: (value) => {
      ready = value;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
