/**
 * The only module that reads the environment. It checks every variable at startup and reports all problems together.
 */
import { z } from 'zod';
import { StartRefused } from './errors.ts';
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

const PORT = 4000;
const RATE_PER_SECOND = 1000;
const RATE_BURST = 2000;

/** Bounds the cardinality of metrics: each of these projects has its own series of each metric with a project label. */
const METRICS_PROJECTS_MAX = 100;

/** Every environment variable with its meaning, default and allowed values. */
export const environment = z.object({
  PORT: wholeNumber(PORT, 0, 65_535).describe('Port of the gateway; 0 takes any free one'),
  HOST: z.string().min(1).default('127.0.0.1').describe('Address to listen on'),
  PUBLIC_URL: publicUrl
    .optional()
    .describe(
      'How clients reach the gateway; default: what it listens on, or the host of the request if HOST is all addresses',
    ),
  READ_URL: publicUrl
    .optional()
    .describe(
      'Another address of the gateway, at which a POST to an object reads it; default: none',
    ),
  DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .describe('Embedded database, generated keys, demo.json'),
  DATABASE_URL: postgresUrl.describe(
    'PostgreSQL in place of the embedded database; several hosts, separated by commas, are servers of which one takes changes',
  ),
  DATABASE_LISTEN_URL: postgresUrl.describe(
    'The same database without the pooler, if DATABASE_URL leads through one that pools transactions',
  ),
  DATABASE_POOL_SIZE: wholeNumber(16, 2, 500).describe('Connections to PostgreSQL'),
  DEMO: flag
    .optional()
    .describe('Fill in the demo; default: when the database is new and embedded'),
  SANDBOX_PORT: wholeNumber(0, 0, 65_535).describe(
    'Port of the built-in sandbox; default: the one after PORT, or any free one',
  ),
  SANDBOX_HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address of the built-in sandbox, by which all processes of the database reach it'),
  ROLES: z
    .string()
    .default('api,worker')
    .transform((text) => text.split(',').map((item) => item.trim()))
    .pipe(z.array(z.enum(['api', 'worker'])).min(1))
    .describe('What this process does: api, worker or both; apart only with DATABASE_URL'),
  METRICS_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .optional()
    .describe('Port of /metrics for Prometheus; 0 takes any free one; default: no metrics'),
  METRICS_HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe(
      'Address of /metrics, which has no credentials: leave it to a network that you trust',
    ),
  METRICS_PROJECTS: list
    .pipe(z.array(z.string().max(64)).max(METRICS_PROJECTS_MAX))
    .describe('Ids of projects that metrics tell apart, comma-separated; default: none'),
  ...otelSettings,
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('The least severe lines that are logged'),
  ENCRYPTION_KEY: encryptionKey
    .optional()
    .describe('Seals secrets at rest: 32 bytes, base64. Required with DATABASE_URL'),
  ENCRYPTION_KEYS_RETIRED: list
    .pipe(z.array(encryptionKey))
    .describe('Older keys that still open what they sealed, comma-separated'),
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
  BEARER_JWKS_URL: httpUrl.optional().describe('Keys of the issuer'),
  BEARER_EMAILS_VERIFIED: flag
    .prefault('false')
    .describe(
      'Whether a token without the claim email_verified has a verified email address. Only for an issuer that verifies every address and never sends the claim',
    ),
  BEARER_ALGORITHMS: list
    .pipe(z.array(algorithm))
    .transform((names) => (names.length > 0 ? names : ['RS256', 'ES256']))
    .describe('Signature algorithms that are accepted, comma-separated'),
  TRUSTED_DOCUMENTS: z
    .enum(['also', 'only'])
    .default('also')
    .describe(
      'only: end users and callers without credentials run nothing but documents of TRUSTED_DOCUMENTS_FILES',
    ),
  TRUSTED_DOCUMENTS_FILES: list.describe(
    'Manifests of documents that requests name by documentId, written by relay-compiler or graphql-codegen, comma-separated',
  ),
  CORS_ORIGINS: list
    .pipe(z.array(origin))
    .describe(
      'Origins whose pages may call the gateway and are told the end of a connect, comma-separated; default: none',
    ),
  REDIRECT_ORIGINS: list
    .pipe(z.array(origin))
    .describe(
      'Origins that an OAuth connect may return to, and whose windows are told its end, comma-separated',
    ),
  ALLOWED_PRIVATE_TARGETS: list
    .pipe(z.array(cidr))
    .describe('Private addresses that webhooks and providers may have, as CIDRs, comma-separated'),
  TRUSTED_PROXIES: list
    .pipe(z.array(cidr))
    .describe(
      'Proxies whose X-Forwarded-For or Forwarded says who calls, as CIDRs, comma-separated',
    ),
  HUBSPOT_BASE_URL: httpUrl.optional().describe("Another address for HubSpot's API"),
  SALESFORCE_BASE_URL: httpUrl.optional().describe("Another address for Salesforce's API"),
  SALESFORCE_PUBSUB_URL: httpUrl
    .optional()
    .describe("Another address for Salesforce's Pub/Sub API, which is gRPC"),
  DELIVERY_RETRY_SECONDS: z
    .string()
    .default('5,300,1800,7200,18000,36000,36000')
    .transform((text) => text.split(','))
    .pipe(z.array(seconds).min(1).max(50))
    .describe('Delays after the first attempt of a delivery'),
  RETENTION_DAYS: wholeNumber(30, 1, 3650).describe(
    'How long operations, logs, events, deliveries and messages of streams are kept',
  ),
  RATE_LIMIT_PER_SECOND: wholeNumber(RATE_PER_SECOND, 1).describe(
    'Requests per second for each API key or builder',
  ),
  RATE_LIMIT_BURST: wholeNumber(RATE_BURST, 1).describe('Requests that may come at once'),
  RATE_LIMIT_STORE: z
    .enum(['memory', 'database'])
    .default('memory')
    .describe('Where rates are counted: each process for itself, or all of them together'),
  WRONG_KEY_LIMIT_PER_MINUTE: wholeNumber(60, 1).describe(
    'Wrong keys or tokens per minute for each address',
  ),
  ...limitSettings,
  DRAIN_MS: milliseconds(0, 0).describe(
    'Time in which a process with the role api that is told to stop is not ready and still takes requests, until its balancer knows',
  ),
  SHUTDOWN_MS: milliseconds(20_000, 0).describe(
    'Time for running work when the server stops, after DRAIN_MS. The process ends at most one second later',
  ),
});

export type Config = z.output<typeof environment>;

export class ConfigError extends StartRefused {
  override name = 'ConfigError';
}

export type Variables = Record<string, string | undefined>;

/** Reads the configuration from environment variables. Throws a ConfigError that lists every problem, one per line. */
export function readConfig(variables: Variables): Config {
  const { config, problems } = checkConfig(variables);
  if (config) return config;
  throw new ConfigError(
    `The configuration is not usable:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
  );
}

/**
 * Returns the configuration, or null and every problem. Problems never contain values, because these may be secrets.
 */
export function checkConfig(variables: Variables): { config: Config | null; problems: string[] } {
  const defined = definedVariables(variables);
  const result = environment.safeParse(defined);
  const problems = [
    ...(result.error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`),
    ...contradictions(defined),
  ];
  return { config: result.success && problems.length === 0 ? result.data : null, problems };
}

/** Returns the variables of the schema. An empty variable counts as unset. */
function definedVariables(variables: Variables): Variables {
  return Object.fromEntries(
    Object.keys(environment.shape).map((name) => [name, variables[name] || undefined]),
  );
}

/** Returns the problems of variables that contradict each other. */
function contradictions(defined: Variables): string[] {
  const perSecond = Number(defined.RATE_LIMIT_PER_SECOND ?? RATE_PER_SECOND);
  const burst = Number(defined.RATE_LIMIT_BURST ?? RATE_BURST);
  return [
    defined.DATABASE_URL &&
      !defined.ENCRYPTION_KEY &&
      'ENCRYPTION_KEY: is required with DATABASE_URL',
    defined.DATABASE_LISTEN_URL &&
      !defined.DATABASE_URL &&
      'DATABASE_LISTEN_URL: is of use only with DATABASE_URL',
    defined.BEARER_ISSUER &&
      !defined.BEARER_JWKS_URL &&
      'BEARER_JWKS_URL: is required with BEARER_ISSUER',
    ['true', '1'].includes(defined.BEARER_EMAILS_VERIFIED ?? '') &&
      !defined.BEARER_ISSUER &&
      'BEARER_EMAILS_VERIFIED: requires BEARER_ISSUER',
    defined.ROLES &&
      !defined.DATABASE_URL &&
      !['api', 'worker'].every((role) => defined.ROLES?.includes(role)) &&
      'ROLES: can be split only with DATABASE_URL',
    defined.SANDBOX_PORT &&
      Number(defined.SANDBOX_PORT) !== 0 &&
      Number(defined.SANDBOX_PORT) === Number(defined.PORT ?? PORT) &&
      'SANDBOX_PORT: must not be the PORT of the gateway',
    defined.METRICS_PORT &&
      Number(defined.METRICS_PORT) !== 0 &&
      [defined.PORT ?? PORT, defined.SANDBOX_PORT].some(
        (port) => Number(port) === Number(defined.METRICS_PORT),
      ) &&
      'METRICS_PORT: must not be the PORT of the gateway or SANDBOX_PORT',
    burst < perSecond && 'RATE_LIMIT_BURST: must not be below RATE_LIMIT_PER_SECOND',
  ].filter((problem) => typeof problem === 'string');
}
