/**
 * Declares and reads the settings, which are environment variables. Every variable is checked at startup, and all
 * problems are reported together.
 */
import { z } from 'zod';
import { StartRefused } from '../kernel/errors.ts';
import { limitSettings } from './limit-settings.ts';
import { otelSettings } from './otel-settings.ts';
import {
  algorithm,
  cidr,
  encryptionKey,
  flag,
  httpUrl,
  list,
  milliseconds,
  origin,
  postgresUrl,
  publicUrl,
  seconds,
  wholeNumber,
} from './setting-kinds.ts';
import { signInSettings } from './sign-in-settings.ts';

const PORT = 4000;
const RATE_PER_SECOND = 1000;
const RATE_BURST = 2000;

/** Bounds the cardinality of metrics: each of these projects has its own series of each metric with a project label. */
const METRICS_PROJECTS_MAX = 100;

/** Every environment variable with its meaning, default and allowed values. */
export const environment = z.object({
  PORT: wholeNumber(PORT, 0, 65_535).describe('Port of the gateway; 0 selects any free port'),
  HOST: z.string().min(1).default('127.0.0.1').describe('Address to listen on'),
  PUBLIC_URL: publicUrl
    .optional()
    .describe(
      'URL by which clients reach the gateway; default: the address it listens on, or the host of the request if HOST is all addresses',
    ),
  READ_URL: publicUrl
    .optional()
    .describe('Additional URL of the gateway at which a POST to an object reads it; default: none'),
  PROXY_URL: publicUrl
    .refine((text) => URL.parse(text)?.pathname === '/', 'must have no path')
    .optional()
    .describe(
      'Additional URL of the gateway, on a host of its own, at which requests are forwarded to providers; default: none',
    ),
  DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .describe('Embedded database, generated keys, demo.json'),
  DATABASE_URL: postgresUrl.describe(
    'URL of a PostgreSQL database, used in place of the embedded one; several hosts, comma-separated, are servers of which one accepts writes',
  ),
  DATABASE_LISTEN_URL: postgresUrl.describe(
    'URL of the same database without the pooler; required if DATABASE_URL leads through a transaction pooler',
  ),
  DATABASE_POOL_SIZE: wholeNumber(16, 2, 500).describe(
    'Maximum number of connections to PostgreSQL',
  ),
  DEMO: flag
    .optional()
    .describe('Whether to create the demo; default: if the database is new and embedded'),
  SANDBOX: flag
    .optional()
    .describe(
      'Whether to run the built-in sandbox and to offer it as a provider; default: if the demo is on',
    ),
  SANDBOX_PORT: wholeNumber(0, 0, 65_535).describe(
    'Port of the built-in sandbox; default: the port after PORT, or any free port',
  ),
  SANDBOX_HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address of the built-in sandbox, at which all processes of the database reach it'),
  ROLES: z
    .string()
    .default('api,worker')
    .transform((text) => text.split(',').map((item) => item.trim()))
    .pipe(z.array(z.enum(['api', 'worker'])).min(1))
    .describe('Roles of this process: api, worker or both; a single role requires DATABASE_URL'),
  METRICS_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .optional()
    .describe('Port of /metrics for Prometheus; 0 selects any free port; default: no metrics'),
  METRICS_HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe(
      'Address of /metrics, which requires no credentials: expose it to trusted networks only',
    ),
  METRICS_PROJECTS: list
    .pipe(z.array(z.string().max(64)).max(METRICS_PROJECTS_MAX))
    .describe('Ids of projects with their own metric series, comma-separated; default: none'),
  ...otelSettings,
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('Minimum severity of logged lines'),
  ENCRYPTION_KEY: encryptionKey
    .optional()
    .describe('Seals secrets at rest: 32 bytes, base64. Required with DATABASE_URL'),
  ENCRYPTION_KEYS_RETIRED: list
    .pipe(z.array(encryptionKey))
    .describe('Older keys, which only decrypt what they have sealed, comma-separated'),
  BEARER_ISSUER: z
    .string()
    .min(1)
    .optional()
    .describe("Issuer of builders' tokens; default: a local issuer for development"),
  BEARER_AUDIENCE: z
    .string()
    .min(1)
    .default('integration-gateway')
    .describe('Audience that a token must name'),
  BEARER_JWKS_URL: httpUrl.optional().describe("URL of the issuer's JSON Web Key Set"),
  BEARER_EMAILS_VERIFIED: flag
    .prefault('false')
    .describe(
      'Trust the email address of tokens without email_verified. Only for an issuer that verifies every address and never sends the claim',
    ),
  BEARER_ALGORITHMS: list
    .pipe(z.array(algorithm))
    .transform((names) => (names.length > 0 ? names : ['RS256', 'ES256']))
    .describe('Accepted signature algorithms, comma-separated'),
  ...signInSettings,
  TRUSTED_DOCUMENTS: z
    .enum(['also', 'only'])
    .default('also')
    .describe(
      'If only, end users and callers without credentials may run only documents of TRUSTED_DOCUMENTS_FILES',
    ),
  TRUSTED_DOCUMENTS_FILES: list.describe(
    'Manifests of documents that requests name by documentId, written by relay-compiler or graphql-codegen, comma-separated',
  ),
  CORS_ORIGINS: list
    .pipe(z.array(origin))
    .describe(
      'Origins whose pages may call the gateway and are notified when an OAuth flow ends, comma-separated; default: none',
    ),
  REDIRECT_ORIGINS: list
    .pipe(z.array(origin))
    .describe(
      'Origins that an OAuth flow may return to, and whose windows are notified when it ends, comma-separated',
    ),
  ALLOWED_PRIVATE_TARGETS: list
    .pipe(z.array(cidr))
    .describe('Private addresses that webhooks and providers may use, as CIDRs, comma-separated'),
  TRUSTED_PROXIES: list
    .pipe(z.array(cidr))
    .describe(
      'Proxies whose X-Forwarded-For or Forwarded names the client, as CIDRs, comma-separated',
    ),
  HUBSPOT_BASE_URL: httpUrl.optional().describe("Another address for HubSpot's API"),
  SALESFORCE_BASE_URL: httpUrl.optional().describe("Another address for Salesforce's API"),
  SALESFORCE_PUBSUB_URL: httpUrl
    .optional()
    .describe("Another address for Salesforce's Pub/Sub API (gRPC)"),
  DELIVERY_RETRY_SECONDS: z
    .string()
    .default('5,300,1800,7200,18000,36000,36000')
    .transform((text) => text.split(','))
    .pipe(z.array(seconds).min(1).max(50))
    .describe('Seconds before each retry of a delivery, comma-separated'),
  RETENTION_DAYS: wholeNumber(30, 1, 3650).describe(
    'Days that operations, logs, events, deliveries, stream messages, ended proposals, agent sessions and acknowledgements are kept',
  ),
  REQUEST_RETENTION_HOURS: wholeNumber(72, 0, 720).describe(
    'Hours that requests to providers are kept for diagnosis, without secrets and record values; 0 records none',
  ),
  RATE_LIMIT_PER_SECOND: wholeNumber(RATE_PER_SECOND, 1).describe(
    'Requests per second for each API key or builder',
  ),
  RATE_LIMIT_BURST: wholeNumber(RATE_BURST, 1).describe(
    'Requests of each API key or builder that may arrive in a burst',
  ),
  RATE_LIMIT_STORE: z
    .enum(['memory', 'database'])
    .default('memory')
    .describe('Where rates are counted: memory in each process, database across all processes'),
  WRONG_KEY_LIMIT_PER_MINUTE: wholeNumber(60, 1).describe(
    'Invalid keys or tokens per minute for each address',
  ),
  ...limitSettings,
  DRAIN_MS: milliseconds(0, 0).describe(
    'Milliseconds that a stopping process with the role api reports not ready and still serves requests, so that its load balancer notices',
  ),
  SHUTDOWN_MS: milliseconds(20_000, 0).describe(
    'Milliseconds that running work has to finish when the server stops, after DRAIN_MS. The process exits at most one second later',
  ),
});

export type Config = z.output<typeof environment>;

export class ConfigError extends StartRefused {
  override name = 'ConfigError';
}

export type EnvironmentVariables = Record<string, string | undefined>;

/** Reads the configuration from environment variables. Throws a ConfigError that lists every problem, one per line. */
export function readConfig(variables: EnvironmentVariables): Config {
  const { config, problems } = checkConfig(variables);
  if (config) return config;
  throw new ConfigError(
    `The configuration is invalid:\n${problems.map((problem) => `  ${formatProblem(problem)}`).join('\n')}`,
  );
}

/** A problem of a setting. The text never contains the value, which may be a secret. */
export interface SettingProblem {
  name: string;
  /** The index of the invalid item, if the setting is a list. */
  index?: string | undefined;
  text: string;
}

export function formatProblem({ name, index, text }: SettingProblem): string {
  return `${index === undefined ? name : `${name}.${index}`}: ${text}`;
}

/** Returns the configuration, or null and every problem. */
export function checkConfig(variables: EnvironmentVariables): {
  config: Config | null;
  problems: SettingProblem[];
} {
  const setVariables = pickDefinedVariables(variables);
  const result = environment.safeParse(setVariables);
  const problems = [
    ...(result.error?.issues ?? []).map(({ path, message }) => {
      const [name = '', index] = path.map(String);
      return { name, index, text: message };
    }),
    ...listContradictions(setVariables),
  ];
  return { config: result.success && problems.length === 0 ? result.data : null, problems };
}

/** Returns the variables of the schema. An empty variable counts as unset. */
function pickDefinedVariables(variables: EnvironmentVariables): EnvironmentVariables {
  return Object.fromEntries(
    Object.keys(environment.shape).map((name) => [name, variables[name] || undefined]),
  );
}

/** The proxy forwards every path of its host, so the host can't serve anything else. */
function* listProxyConflicts(variables: EnvironmentVariables): Generator<SettingProblem> {
  const { PROXY_URL, PUBLIC_URL, READ_URL, HOST = '127.0.0.1' } = variables;
  const proxyHost = URL.parse(PROXY_URL ?? '')?.host;
  if (proxyHost === undefined) return;
  const otherUrls = {
    PUBLIC_URL: PUBLIC_URL ?? `http://${HOST}:${variables.PORT ?? PORT}`,
    READ_URL,
  };
  for (const [name, url] of Object.entries(otherUrls)) {
    if (URL.parse(url ?? '')?.host !== proxyHost) continue;
    yield { name: 'PROXY_URL', text: `must have another host than ${name}` };
  }
}

/** Yields a problem for each variable that contradicts another variable. */
function* listContradictions(variables: EnvironmentVariables): Generator<SettingProblem> {
  const { DATABASE_URL, BEARER_ISSUER, ROLES } = variables;
  if (DATABASE_URL && !variables.ENCRYPTION_KEY) {
    yield { name: 'ENCRYPTION_KEY', text: 'is required with DATABASE_URL' };
  }
  if (variables.DATABASE_LISTEN_URL && !DATABASE_URL) {
    yield { name: 'DATABASE_LISTEN_URL', text: 'requires DATABASE_URL' };
  }
  if (BEARER_ISSUER && !variables.BEARER_JWKS_URL) {
    yield { name: 'BEARER_JWKS_URL', text: 'is required with BEARER_ISSUER' };
  }
  if (variables.BEARER_JWKS_URL && !BEARER_ISSUER) {
    yield { name: 'BEARER_JWKS_URL', text: 'requires BEARER_ISSUER' };
  }
  if (isOn(variables.BEARER_EMAILS_VERIFIED) && !BEARER_ISSUER) {
    yield { name: 'BEARER_EMAILS_VERIFIED', text: 'requires BEARER_ISSUER' };
  }
  if (variables.LOCAL_ISSUER_PASSWORD && BEARER_ISSUER) {
    yield {
      name: 'LOCAL_ISSUER_PASSWORD',
      text: 'is for the local issuer, which BEARER_ISSUER replaces',
    };
  }
  const hasSingleRole = ROLES && !['api', 'worker'].every((role) => ROLES.includes(role));
  if (hasSingleRole && !DATABASE_URL)
    yield { name: 'ROLES', text: 'a single role requires DATABASE_URL' };
  if (isOn(variables.DEMO) && isOff(variables.SANDBOX)) {
    yield {
      name: 'SANDBOX',
      text: 'must not be false with DEMO, because the demo uses the sandbox',
    };
  }
  yield* listPortConflicts(variables);
  yield* listProxyConflicts(variables);
  const perSecond = Number(variables.RATE_LIMIT_PER_SECOND ?? RATE_PER_SECOND);
  const burst = Number(variables.RATE_LIMIT_BURST ?? RATE_BURST);
  if (burst < perSecond)
    yield { name: 'RATE_LIMIT_BURST', text: 'must not be below RATE_LIMIT_PER_SECOND' };
}

const isOn = (text: string | undefined) => ['true', '1'].includes(text ?? '');
const isOff = (text: string | undefined) => ['false', '0'].includes(text ?? '');

/** Ports of 0 never conflict, because each of them selects a free port. */
function* listPortConflicts(variables: EnvironmentVariables): Generator<SettingProblem> {
  const port = Number(variables.PORT ?? PORT);
  const sandboxPort = Number(variables.SANDBOX_PORT ?? 0);
  const metricsPort = Number(variables.METRICS_PORT ?? 0);
  if (sandboxPort !== 0 && sandboxPort === port) {
    yield { name: 'SANDBOX_PORT', text: 'must not be the PORT of the gateway' };
  }
  if (metricsPort !== 0 && [port, sandboxPort].includes(metricsPort)) {
    yield { name: 'METRICS_PORT', text: 'must not be the PORT of the gateway or SANDBOX_PORT' };
  }
}
