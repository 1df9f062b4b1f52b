/** Builds all parts of the gateway in order, and closes them in reverse order. Overrides replace parts in tests. */
import type { RequestListener } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Demo, fillDemo, getDemoFile, isDemoOn, mintDemoToken } from './demo/demo.ts';
import { createDemoTabs, createTypedDemoTabs, createVariableQueries } from './demo/tabs.ts';
import type { Services } from './domain/access/call.ts';
import { type Admission, createAdmission } from './domain/access/viewer/admission.ts';
import { type BearerVerifier, createBearerVerifier } from './domain/access/viewer/bearer.ts';
import { replayTokenJournal } from './domain/connections/connection/token/token-commit.ts';
import { scheduleMaintenance } from './domain/data/provider-event/object-subscription.ts';
import type { OperationPlugin } from './graphql/execution/operation-context.ts';
import type { Log } from './kernel/log.ts';
import { listenAt } from './process/ports.ts';
import { Shutdown } from './process/shutdown.ts';
import type { Rest } from './rest/rest.ts';
import type { SandboxServer } from './sandbox/server.ts';
import { CONSOLE_MISSING_ADVICE, isConsoleMissing } from './server/console/console-build.ts';
import { createConsoleDocuments } from './server/console/console-documents.ts';
import type { GraphiqlContent } from './server/graphql/graphiql.ts';
import { warmUp } from './server/graphql/warm-up.ts';
import { attachWebSocket } from './server/graphql/websocket.ts';
import { openYoga, type Yoga } from './server/graphql/yoga.ts';
import { isUrlUnknown } from './server/http/gateway-url.ts';
import { createHttpFrontEnd, type HttpFrontEnd, hasApiRole } from './server/http/http-front-end.ts';
import { type ClientReaders, createClientReaders } from './server/http/request-client.ts';
import type { Config } from './settings/config.ts';
import { type OpenServices, openServices, type ServiceOverrides } from './start/services.ts';
import { LEASED_WORK, startWork } from './start/start-work.ts';
import { getStopWorkMs } from './work/deadline.ts';

/** Lifetime of the demo tokens for the console page. The page renews them. */
const DEMO_TOKEN_LIFETIME = '1h';

export interface Overrides extends ServiceOverrides {
  /** If false, Yoga's own handler serves every GraphQL request. */
  hasAdapter?: boolean;
  /** Yoga plugins in addition to the gateway's own. */
  plugins?: OperationPlugin[];
}

/** The addresses of the started app. */
export interface StartResult {
  url: string;
  /** The path of demo.json. Null without a demo. */
  demoFile: string | null;
  /** The URL that Prometheus scrapes. Undefined without METRICS_PORT. */
  metrics: string | undefined;
}

export interface App extends AsyncDisposable {
  services: Services;
  verifier: BearerVerifier;
  /** Throws if the sandbox is off, or if another process with the same database runs it. */
  readonly sandbox: SandboxServer;
  /** Handles a request. Works without a listening port too. */
  handler: RequestListener;
  /** The routes of the REST API under /v1. */
  rest: Rest;
  /** Reports not ready and keeps serving for DRAIN_MS, so that balancers stop sending requests first. */
  drain(): Promise<void>;
  /** The names of the parts that are stopping and have not stopped yet. */
  listRunningStops(): string[];
  /**
   * Listens, fills in the demo if it is on, and starts the workers. Then `/readyz` returns 200. A second call returns
   * the result of the first.
   */
  start(): Promise<StartResult>;
}

/** Throws StartRefused if the settings or the data folder can't be used. */
export async function createApp(config: Config, overrides: Overrides = {}): Promise<App> {
  await using openedResources = new AsyncDisposableStack();
  const shutdown = new Shutdown();
  const openedServices = await openServices(config, overrides, (...resource) =>
    shutdown.use(openedResources, ...resource),
  );
  const { services, sandbox } = openedServices;
  const verifier = await createBearerVerifier(config);
  await replayTokenJournal(services);
  const admission = createAdmission(services, verifier, config);
  const state = createState();
  const parts: AppParts = {
    ...openedServices,
    verifier,
    admission,
    yoga: openYoga({
      services,
      admission,
      findPageDocument: createConsoleDocuments(),
      plugins: overrides.plugins,
    }),
    ...createClientReaders(services),
    state,
  };
  const frontEnd = await openFront(parts, overrides);
  openedResources.defer(() => frontEnd.app.close());
  const resources = openedResources.move();
  let startPromise: Promise<StartResult> | undefined;
  return {
    services,
    verifier,
    get sandbox() {
      return sandbox.server();
    },
    handler: (req, res) => frontEnd.app.routing(req, res),
    rest: frontEnd.rest,
    start() {
      startPromise ??= start(parts, frontEnd, { resources, shutdown });
      return startPromise;
    },
    drain: () => drain(config, frontEnd, state),
    listRunningStops: () => shutdown.waitingFor,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function openFront(parts: AppParts, { hasAdapter }: Overrides): Promise<HttpFrontEnd> {
  const { state, verifier } = parts;
  return createHttpFrontEnd({
    ...parts,
    hasAdapter,
    findGraphiqlContent: (projectIdOrName) => findGraphiqlContent(state.demo, projectIdOrName),
    findDemo: () => state.demo,
    mintDemoToken: () => mintDemoToken(verifier, { lifetime: DEMO_TOKEN_LIFETIME }),
    demoFile: () => state.demoFile,
    isReady: () => state.isReady,
  });
}

interface AppParts extends OpenServices, ClientReaders {
  verifier: BearerVerifier;
  admission: Admission;
  yoga: Yoga;
  state: AppState;
}

/** Returns the content of GraphiQL. Of the projects' typed APIs, only the demo's has tabs. */
function findGraphiqlContent(
  demo: Demo | null,
  projectIdOrName: string | undefined,
): GraphiqlContent {
  if (projectIdOrName === undefined) {
    return { tabs: createDemoTabs(demo), variableQueries: createVariableQueries(demo) };
  }
  const isDemo = demo && [demo.projectId, demo.projectName].includes(projectIdOrName);
  return { tabs: createTypedDemoTabs(isDemo ? demo : null), variableQueries: {} };
}

/** The state of the app that requests see. */
interface AppState {
  isReady: boolean;
  demo: Demo | null;
  demoFile: string | null;
}

function createState(): AppState {
  return { isReady: false, demo: null, demoFile: null };
}

async function drain(config: Config, frontEnd: HttpFrontEnd, state: AppState): Promise<void> {
  state.isReady = false;
  // Clients send no requests to a process without the role `api`, so there is nothing to drain.
  if (!frontEnd.app.server.listening || !hasApiRole(config)) return;
  frontEnd.drain();
  await wait(config.DRAIN_MS);
}

interface Lifetime {
  /** Disposed of when the app stops. */
  resources: AsyncDisposableStack;
  shutdown: Shutdown;
}

async function start(parts: AppParts, frontEnd: HttpFrontEnd, { resources, shutdown }: Lifetime) {
  const { services, sandbox, state } = parts;
  const { config, log } = services;
  const stops = shutdown.stopTogether(resources);
  await warmUp(services.database, parts.yoga);
  const metrics = await openMetrics(parts, resources);
  const url = await openPort(parts, frontEnd, stops);
  resources.defer(() => {
    state.isReady = false;
  });
  parts.setPublicUrl(url);
  warnOfUnknownUrl(config, log);
  if (hasApiRole(config) && isConsoleMissing()) {
    log.error({ advice: CONSOLE_MISSING_ADVICE }, 'console.not_built');
  }
  await showDemo(parts, url);
  if (config.ROLES.includes('worker')) {
    const work = await startWork(services);
    stops.add('work', () => work[Symbol.asyncDispose]());
  }
  // A sandbox that has restarted has lost its subscriptions.
  sandbox.fillWith(() => void renewSubscriptions(services));
  state.isReady = true;
  const graphiql = hasApiRole(config) ? `${url}/graphql` : undefined;
  log.info({ url, graphiql, sandbox: sandbox.url() || undefined, metrics }, 'server.ready');
  return { url, demoFile: state.demoFile, metrics };
}

/** Warns if links contain an address that clients on other machines can't use. */
function warnOfUnknownUrl(config: Config, log: Log): void {
  if (!config.ROLES.includes('api') || !isUrlUnknown(config)) return;
  const advice = 'Set PUBLIC_URL to the URL by which clients and providers reach the gateway.';
  log.warn({ host: config.HOST, advice }, 'public_url.missing');
}

async function renewSubscriptions(services: Services): Promise<void> {
  await scheduleMaintenance(services, 'sandbox').catch((err: unknown) => {
    services.log.warn({ err }, 'sandbox.subscriptions_not_renewed');
  });
}

/** Returns the URL that Prometheus scrapes. Undefined without METRICS_PORT. */
async function openMetrics(
  { services, metrics, admission }: AppParts,
  resources: AsyncDisposableStack,
): Promise<string | undefined> {
  if (!metrics) return undefined;
  const { observeGauges } = await import('./metrics/gauges.ts');
  const { startMetricsServer } = await import('./metrics/metrics.ts');
  const { config, log, database, feed, streamFeed, workers } = services;
  const updateGauges = observeGauges(metrics.registry, {
    database,
    streams: () => ({ open: admission.streams.size, lagging: feed.lagging + streamFeed.lagging }),
    shares: () => services.shares.readState(),
    work: { kinds: LEASED_WORK, countRunning: () => workers.countRunning() },
    countsWork: config.ROLES.includes('worker'),
  });
  const { METRICS_HOST: host, METRICS_PORT: port = 0 } = config;
  const options = { host, port, updateGauges, log };
  const started = await listenAt({ name: 'METRICS_PORT', host, port }, () =>
    startMetricsServer(metrics.registry, options),
  );
  const metricsServer = resources.use(started);
  return metricsServer.url;
}

async function openPort(
  { services, ...parts }: AppParts,
  frontEnd: HttpFrontEnd,
  stops: ReturnType<Shutdown['stopTogether']>,
): Promise<string> {
  const { config } = services;
  const { HOST: host, PORT: port } = config;
  const url = await listenAt({ name: 'PORT', host, port }, () => frontEnd.listen({ host, port }));
  stops.add('requests', () => frontEnd.stop(getStopWorkMs(config)));
  if (hasApiRole(config)) {
    const sockets = attachWebSocket(frontEnd.app.server, { ...services, ...parts });
    stops.add('sockets', async () => {
      const stopping = sockets.stop();
      parts.admission.streams.endAll();
      await stopping;
    });
  }
  return config.PUBLIC_URL ?? url;
}

async function showDemo({ services, sandbox, verifier, state }: AppParts, url: string) {
  if (services.config.DEMO !== false) sandbox.fillWith(seedSandbox);
  if (!(await isDemoOn(services))) return;
  if (!hasApiRole(services.config)) return;
  const demo = await fillDemo({ services, verifier, url });
  state.demo = demo;
  state.demoFile = demo && getDemoFile(services.config);
}

/**
 * Fills the sandbox, so that reads of the demo and of a new project find records. The sandbox keeps its records in
 * memory and starts empty.
 */
function seedSandbox(sandbox: SandboxServer): void {
  sandbox.seed('contacts', 50);
  sandbox.seed('companies', 10);
  sandbox.seed('people', 30);
}
