/** Opens the services that all parts of the gateway use, in order. */
import type { Tracer } from '@opentelemetry/api';
import type { Database } from '../database/open/database.ts';
import { openDatabase } from '../database/open/open-database.ts';
import { hideRows } from '../database/statements/reads/hidden-rows.ts';
import type { CoreServices, Services } from '../domain/access/call.ts';
import { createEndUsers } from '../domain/access/viewer/end-users.ts';
import { KeyUses } from '../domain/access/viewer/key/key-uses.ts';
import { ProcessShares } from '../domain/access/viewer/share/process-shares.ts';
import { ViewerCache } from '../domain/access/viewer/viewer-cache.ts';
import { UnstoredTokens } from '../domain/connections/connection/token/unstored-tokens.ts';
import { RequestRecorder } from '../domain/connections/diagnosis/request-recorder.ts';
import { ProjectCatalogs } from '../domain/connections/provider/project-catalogs.ts';
import { createProviderAccess } from '../domain/connections/provider/provider-access.ts';
import { FieldLearner } from '../domain/data/contract/field-learner.ts';
import { createEventRates } from '../domain/data/provider-event/event-rates.ts';
import { encodeEventCursor } from '../domain/events/notification-event.ts';
import { encodeMessageCursor } from '../domain/events/stream-message.ts';
import { ManifestReader } from '../domain/integrations/integration/manifest/manifest-reader.ts';
import { findEncryptionKeys, loadEncryptionKeys } from '../domain/tenants/keys/encryption-keys.ts';
import { refuseMissingIssuerKey, refuseMissingKey } from '../domain/tenants/keys/re-encryption.ts';
import { type ErasedSubjects, watchErasedSubjects } from '../domain/upkeep/erased-subjects.ts';
import { createEventLogSource } from '../events/event-log.ts';
import { createFeed } from '../events/feed.ts';
import { createOperationChanges } from '../events/operation-changes.ts';
import { createStreamLogSource } from '../events/stream-log.ts';
import { Workers } from '../jobs/workers.ts';
import { linkProblemsTo } from '../kernel/errors.ts';
import { createLog, type Log } from '../kernel/log.ts';
import { NO_METERS } from '../kernel/meters.ts';
import { createVault, type Vault } from '../kernel/secrets.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { createOutbound, type Outbound } from '../outbound/client.ts';
import { type ReadTxtRecords, readTxtRecords } from '../outbound/txt-records.ts';
import { CATALOG } from '../providers/catalog/all-entries.ts';
import type { Provider } from '../providers/contract.ts';
import { createHubspotProvider } from '../providers/hubspot/hubspot-provider.ts';
import {
  createSalesforceJwtProvider,
  createSalesforceProvider,
} from '../providers/salesforce/salesforce-provider.ts';
import { createSandboxDeskProvider } from '../providers/sandbox/desk-provider.ts';
import { createSandboxProvider } from '../providers/sandbox/sandbox-provider.ts';
import { openSandbox, type Sandbox } from '../server/sandbox.ts';
import type { Config } from '../settings/config.ts';

/**
 * The maximum number of sockets to providers. It allows several providers to reach their limits. Deliveries have
 * separate sockets.
 */
const PROVIDER_SOCKETS_MAX = 256;

/** Replacements for tests. */
export interface ServiceOverrides {
  log?: Log;
  /** Default: created from the configuration. */
  metrics?: Metrics;
  /** An open database. The app closes it. */
  database?: Database;
  /** Replaces the database's clock, which all processes share. */
  now?: () => Date;
  /** A source of random numbers from 0 up to 1. */
  random?: () => number;
  /** Replaces the DNS lookup of claimed domains. */
  readTxtRecords?: ReadTxtRecords;
  /** Replaces the catalog. */
  providers?: Provider[];
}

/** Registers a resource by name. The app closes resources in reverse order. */
type UseResource = <T extends AsyncDisposable>(name: string, resource: T) => T;

export interface OpenServices {
  services: Services;
  /** Null without METRICS_PORT. */
  metrics: Metrics | null;
  sandbox: Sandbox;
  /** Sets the gateway's URL, which is known after it listens. */
  setPublicUrl(url: string): void;
}

/** Opens the services. Throws StartRefused, before it creates anything, if state of an earlier start is missing. */
export async function openServices(
  config: Config,
  overrides: ServiceOverrides,
  use: UseResource,
): Promise<OpenServices> {
  const log = overrides.log ?? createLog(config.LOG_LEVEL);
  const metrics = overrides.metrics ?? (await loadMetrics(config));
  const meters = metrics?.meters ?? NO_METERS;
  const tracer = await openTracer(config, log, use);
  const unfilteredDatabase = overrides.database ?? (await openDatabase(config, log, meters));
  use('database', unfilteredDatabase);
  const vault = await openVault(config, unfilteredDatabase);
  const erasedSubjects = use('erasures', await watchErasedSubjects(unfilteredDatabase, log));
  const database = hideErasedSubjects(unfilteredDatabase, erasedSubjects);
  const sandbox = use('sandbox', await openSandbox({ config, database, log }));
  const now = overrides.now ?? database.now;
  let publicUrl = config.PUBLIC_URL ?? `http://${config.HOST}:${config.PORT}`;
  const services: Services = {
    config,
    log,
    meters,
    tracer,
    database,
    erasedSubjects,
    vault,
    ...createCallerServices({ config, meters, database, log, vault, now }),
    workers: new Workers(),
    ...openFeeds(database, log, use),
    readTxtRecords: overrides.readTxtRecords ?? readTxtRecords,
    ...openProviderAccess(use, { config, log, database, sandbox, providers: overrides.providers }),
    fieldLearner: use('fields to store', new FieldLearner({ log, database, now })),
    eventRates: createEventRates(config),
    manifests: use('manifests', new ManifestReader()),
    publicUrl: () => publicUrl.replace(/\/+$/, ''),
    sandboxUrl: sandbox.url,
    now,
    random: overrides.random ?? Math.random,
  };
  linkProblemsTo(services.publicUrl);
  return {
    services,
    metrics,
    sandbox,
    setPublicUrl: (url) => {
      publicUrl = url;
    },
  };
}

function openProviderAccess(
  use: UseResource,
  {
    config,
    log,
    database,
    sandbox,
    providers = listProviders(config, sandbox),
  }: Pick<Services, 'config' | 'log' | 'database'> & {
    sandbox: Sandbox;
    providers: Provider[] | undefined;
  },
) {
  const catalogs = new ProjectCatalogs(providers, { database, log });
  const requestRecorder =
    config.REQUEST_RETENTION_HOURS === 0
      ? null
      : use('requests to store', new RequestRecorder({ database, log }));
  const providerAccess = createProviderAccess({
    outbound: use('requests to providers', createProviderOutbound(config, sandbox)),
    observer: requestRecorder,
    unstoredTokens: use('tokens to store', new UnstoredTokens(log)),
  });
  return { catalogs, requestRecorder, providerAccess };
}

function hideErasedSubjects(database: Database, { ids }: ErasedSubjects): Database {
  return { ...database, reads: hideRows(database.reads, ids) };
}

function createCallerServices({
  config,
  meters,
  database,
  log,
  vault,
  now,
}: CoreServices & Pick<Services, 'meters'>) {
  return {
    shares: new ProcessShares(config, meters, database.outages),
    viewers: new ViewerCache(),
    keyUses: new KeyUses(database, log),
    endUsers: createEndUsers({ config, database, log, now, vault }),
  };
}

function openFeeds(database: Database, log: Log, use: UseResource) {
  const events = createFeed({
    database,
    log,
    source: createEventLogSource(database, encodeEventCursor),
  });
  const streams = createFeed({
    database,
    log,
    source: createStreamLogSource(database, encodeMessageCursor),
  });
  return {
    feed: use('event feed', events),
    streamFeed: use('stream feed', streams),
    operationChanges: use('operation feed', createOperationChanges(database, log)),
  };
}

/** Loads the metrics only if they are used, because it would slow down every start. */
async function loadMetrics(config: Config): Promise<Metrics | null> {
  if (config.METRICS_PORT === undefined) return null;
  const { createMetrics } = await import('../metrics/metrics.ts');
  return createMetrics(config);
}

/** Returns null, without loading the SDK, if no receiver of traces is configured. */
async function openTracer(config: Config, log: Log, use: UseResource): Promise<Tracer | null> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT } = config;
  const receiver = OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? OTEL_EXPORTER_OTLP_ENDPOINT;
  if (receiver === undefined || config.OTEL_SDK_DISABLED === 'true') return null;
  const { openTracing } = await import('../tracing/tracing.ts');
  return use('traces', openTracing(config, log)).tracer;
}

async function openVault(config: Config, database: Database): Promise<Vault> {
  const keys = findEncryptionKeys(config);
  // Must run before the first key is created, which would be mistaken for the missing one.
  await refuseMissingIssuerKey(config, database);
  await refuseMissingKey(database.run, keys && createVault(keys));
  return createVault(keys ?? loadEncryptionKeys(config));
}

/**
 * Creates the client for requests to providers. Provider URLs that the operator configures are permitted, even private
 * ones.
 */
function createProviderOutbound(config: Config, sandbox: Sandbox): Outbound {
  const { ALLOWED_PRIVATE_TARGETS, HUBSPOT_BASE_URL } = config;
  const { SALESFORCE_BASE_URL, SALESFORCE_PUBSUB_URL } = config;
  const configuredUrls = [HUBSPOT_BASE_URL, SALESFORCE_BASE_URL, SALESFORCE_PUBSUB_URL];
  const providerOrigins = configuredUrls.flatMap((url) =>
    url && URL.canParse(url) ? new URL(url).origin : [],
  );
  return createOutbound({
    allowedPrivateTargets: ALLOWED_PRIVATE_TARGETS,
    alwaysAllowedOrigins: () => [...providerOrigins, sandbox.url()],
    socketsMax: PROVIDER_SOCKETS_MAX,
  });
}

function listProviders(config: Config, sandbox: Sandbox): Provider[] {
  const salesforceUrls = {
    baseUrl: config.SALESFORCE_BASE_URL,
    pubSubUrl: config.SALESFORCE_PUBSUB_URL,
  };
  return [
    ...(sandbox.isOn
      ? [createSandboxProvider(sandbox.url), createSandboxDeskProvider(sandbox.url)]
      : []),
    createHubspotProvider({ baseUrl: config.HUBSPOT_BASE_URL }),
    createSalesforceProvider(salesforceUrls),
    createSalesforceJwtProvider(salesforceUrls),
    ...CATALOG,
  ];
}
