/** Builds everything in order, and takes it down in the other. What a test wants to replace comes in as an override. */
import type { RequestListener } from 'node:http';
import type { Config } from './config.ts';
import { type Database, openDatabase } from './database/database.ts';
import { demoFileOf, fillDemo, isDemoOn } from './demo/demo.ts';
import { demoTabs } from './demo/tabs.ts';
import type { Services } from './domain/call.ts';
import { replayTokenJournal } from './domain/connection/token/token-commit.ts';
import { eventCursor } from './domain/event/notification-event.ts';
import { encryptionKeys, findEncryptionKeys } from './domain/keys/encryption-keys.ts';
import { refuseMissingKey } from './domain/keys/missing-key.ts';
import { createCatalogue } from './domain/provider/catalogue.ts';
import { createProviderAccess } from './domain/provider/provider-access.ts';
import { createAdmission } from './domain/viewer/admission.ts';
import { type BearerVerifier, createBearerVerifier } from './domain/viewer/bearer.ts';
import { createViewerCache } from './domain/viewer/viewer.ts';
import { createFeed } from './events/feed.ts';
import { createOperationChanges } from './events/operation-changes.ts';
import { createPipeline } from './graphql/execution/pipeline.ts';
import { openQueue } from './jobs/queue.ts';
import { createLog, type Log } from './log.ts';
import { createOutbound, type Outbound } from './outbound/client.ts';
import { Shutdown } from './process/shutdown.ts';
import { CATALOGUE } from './providers/catalogue/all-rows.ts';
import type { Provider } from './providers/contract.ts';
import { hubspotProvider } from './providers/hubspot/hubspot-provider.ts';
import { salesforceProvider } from './providers/salesforce/salesforce-provider.ts';
import { sandboxProvider } from './providers/sandbox/sandbox-provider.ts';
import { createRest, type Rest } from './rest/rest.ts';
import type { SandboxServer } from './sandbox/server.ts';
import { createVault } from './secrets.ts';
import { attachWebSocket } from './server/graphql/websocket.ts';
import { createHandlers } from './server/handlers.ts';
import { createClientAddresses } from './server/http/client-address.ts';
import { createCors } from './server/http/cors.ts';
import { createFront } from './server/http/front.ts';
import { listen } from './server/http/http-server.ts';
import { routesOf, workerRoutesOf } from './server/http/routes.ts';
import { createBodyWatch } from './server/http/unfinished-bodies.ts';
import { watchHeads } from './server/http/unfinished-heads.ts';
import { openSandbox } from './server/sandbox.ts';
import type { Sandbox } from './server/sandbox-server.ts';
import { startWork } from './start-work.ts';
import { stopWorkMs } from './work/deadline.ts';

/** Enough for several providers at their own limit, apart from the sockets of deliveries. */
const PROVIDER_SOCKETS = 256;

export interface Overrides {
  log?: Log;
  /** An open database, which the app takes over. */
  database?: Database;
  /** In place of the database's clock, by which all processes go. */
  now?: () => Date;
  /** Chance, from 0 up to 1. */
  random?: () => number;
  /** In place of the catalogue. */
  providers?: Provider[];
  /** Which request goes to which handler. */
  routes?: typeof routesOf;
}

export interface App extends AsyncDisposable {
  services: Services;
  verifier: BearerVerifier;
  /** Throws where another process of the database runs it. */
  readonly sandbox: SandboxServer;
  /** Answers a request, with or without a port of its own. */
  handler: RequestListener;
  /** The platform's REST endpoints under /v1. */
  rest: Rest;
  /** What has begun to stop and has not ended. */
  stopsWaitFor(): string[];
  /** Listens, fills in the demo where it is on, works, and answers /readyz with 200 from then on. */
  start(): Promise<{ url: string; demoFile: string | null }>;
}

export async function createApp(config: Config, overrides: Overrides = {}): Promise<App> {
  const log = overrides.log ?? createLog(config.LOG_LEVEL);
  await using building = new AsyncDisposableStack();
  const shutdown = new Shutdown();
  const use = <T extends AsyncDisposable>(name: string, resource: T) =>
    shutdown.use(building, name, resource);
  const database = use('database', overrides.database ?? (await openDatabase(config, log)));
  const keys = findEncryptionKeys(config);
  // Before a first key is made: it would look like the one that is missing.
  await refuseMissingKey(database.rows.query, keys && createVault(keys));
  const vault = createVault(keys ?? encryptionKeys(config));
  const sandbox = use('sandbox', await openSandbox({ config, database, log }));
  const verifier = await createBearerVerifier(config);
  let publicUrl = config.PUBLIC_URL ?? `http://${config.HOST}:${config.PORT}`;
  const services: Services = {
    config,
    log,
    database,
    vault,
    catalogue: createCatalogue(overrides.providers ?? allProviders(config, sandbox)),
    viewers: createViewerCache(),
    queue: use('job queue', await openQueue(database, log)),
    feed: use('event feed', createFeed({ database, log, cursorOf: eventCursor })),
    operationChanges: use('operation feed', createOperationChanges(database, log)),
    providerAccess: createProviderAccess(
      use('requests to providers', providerOutbound(config, sandbox)),
    ),
    publicUrl: () => publicUrl.replace(/\/+$/, ''),
    sandboxUrl: sandbox.url,
    now: overrides.now ?? database.now,
    random: overrides.random ?? Math.random,
  };
  await replayTokenJournal(services);
  const admission = createAdmission(services, verifier, config);
  let tabs = demoTabs(null);
  let demoFile: string | null = null;
  const pipeline = createPipeline(services, admission);
  const { streams } = admission;
  const rest = building.adopt(await createRest(services, admission), (app) => app.close());
  let isReady = false;
  const servesApi = config.ROLES.includes('api');
  const handlers = createHandlers({
    config,
    log,
    database,
    services,
    pipeline,
    streams,
    rest,
    tabs: () => tabs,
    demoFile: () => demoFile,
    isReady: () => isReady,
  });
  const routes = servesApi ? (overrides.routes ?? routesOf)(handlers) : workerRoutesOf(handlers);
  const addresses = createClientAddresses(config);
  const watchBody = createBodyWatch(config);
  const handler = createFront({ log, addresses, cors: createCors(config), watchBody, routes });
  const running = building.move();
  return {
    services,
    verifier,
    get sandbox() {
      return sandbox.server();
    },
    handler,
    rest,
    async start() {
      const listening = await listen(handler, {
        host: config.HOST,
        port: config.PORT,
        takesSockets: servesApi,
      });
      watchHeads(listening.server, config, addresses);
      const serving = shutdown.sideBySide(running);
      serving.add('requests', () => listening.stop(stopWorkMs(config)));
      if (servesApi) {
        const sockets = attachWebSocket(listening.server, {
          config,
          log,
          addresses,
          pipeline,
          admission,
        });
        serving.add('sockets', async () => {
          const stopped = sockets.stop();
          streams.endAll();
          await stopped;
        });
      }
      running.defer(() => {
        isReady = false;
      });
      const url = config.PUBLIC_URL ?? listening.url;
      publicUrl = url;
      const hasDemo = await isDemoOn(services);
      if (hasDemo) sandbox.fillWith(seedSandbox);
      const demo = hasDemo && servesApi ? await fillDemo({ services, verifier, url }) : null;
      tabs = demoTabs(demo);
      demoFile = demo && demoFileOf(config);
      if (config.ROLES.includes('worker')) {
        const work = await startWork(services);
        serving.add('work', () => work[Symbol.asyncDispose]());
      }
      isReady = true;
      log.info({ url, graphiql: `${url}/graphql`, sandbox: sandbox.url() }, 'ready');
      return { url, demoFile };
    },
    stopsWaitFor: () => shutdown.waitingFor,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The sandbox keeps its records in memory: the demo's reads find some whenever it has begun anew. */
function seedSandbox(sandbox: SandboxServer): void {
  sandbox.seed('contacts', 50);
  sandbox.seed('companies', 10);
}

/** The operator's own addresses for providers are permitted, wherever they are. */
function providerOutbound(config: Config, sandbox: Sandbox): Outbound {
  const { ALLOWED_PRIVATE_TARGETS, HUBSPOT_BASE_URL, SALESFORCE_BASE_URL } = config;
  const own = [HUBSPOT_BASE_URL, SALESFORCE_BASE_URL].flatMap((url) =>
    url && URL.canParse(url) ? new URL(url).origin : [],
  );
  return createOutbound({
    allowedPrivateTargets: ALLOWED_PRIVATE_TARGETS,
    alwaysAllowedOrigins: () => [...own, sandbox.url()],
    socketsMax: PROVIDER_SOCKETS,
  });
}

function allProviders(config: Config, sandbox: Sandbox): Provider[] {
  return [
    sandboxProvider(sandbox.url),
    hubspotProvider({ baseUrl: config.HUBSPOT_BASE_URL }),
    salesforceProvider({ baseUrl: config.SALESFORCE_BASE_URL }),
    ...CATALOGUE,
  ];
}
