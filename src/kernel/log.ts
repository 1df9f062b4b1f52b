/** JSON logs on stdout, one line per event. Secrets have the type Secret, which prints as ***. */
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { ServiceUnavailable } from './errors.ts';
import { MASK } from './secrets.ts';
import { findCurrentSpan } from './spans.ts';

export type Log = Logger;

const WARN = 40;
/** Lines are written in batches, because one write per line would cost more than most requests. */
const BATCH_LENGTH_MAX = 32 * 1024;
const BATCH_MS_MAX = 100;

const NO_TRACE = Object.freeze({});

/** Writes to `lines`, or to stdout if absent. */
export function createLog(level: string, lines?: DestinationStream): Log {
  const options = {
    level,
    base: undefined,
    timestamp: () => `,"time":"${formatNow()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { logMethod: logOutageQuietly },
    mixin: getTraceFields,
    // Pino's default strategy would add each line's fields to NO_TRACE, and so to all later lines.
    mixinMergeStrategy: (line, trace) => (trace === NO_TRACE ? line : { ...trace, ...line }),
    // A safeguard: no code should log request headers. If any does, credentials are removed here.
    redact: {
      paths: ['authorization', 'headers.authorization', 'headers["x-api-key"]', 'headers.cookie'],
      censor: MASK,
    },
  } satisfies LoggerOptions;
  return pino(options, lines ?? getStdout());
}

/** Returns the ids of the current trace and span. */
function getTraceFields(): object {
  const span = findCurrentSpan();
  if (!span) return NO_TRACE;
  const { traceId, spanId } = span.spanContext();
  return { traceId, spanId };
}

/** Logs consequences of an outage at level debug. The part that failed logs the outage itself, once. */
const logOutageQuietly: NonNullable<LoggerOptions['hooks']>['logMethod'] = function (
  args,
  method,
  level,
) {
  const { err } = (args[0] ?? {}) as { err?: unknown };
  if (level >= WARN && err instanceof ServiceUnavailable) this.debug(...args);
  else method.apply(this, args);
};

let stdoutStream: DestinationStream | undefined;

function getStdout(): DestinationStream {
  stdoutStream ??= openStdout();
  return stdoutStream;
}

/** Batches lines below the level warn. Synchronous writes keep the order and the end of the log if the process fails. */
function openStdout(): DestinationStream {
  const stdout = pino.destination({ dest: 1, sync: true });
  let batch = '';
  const writeBatch = () => {
    if (batch !== '') stdout.write(batch);
    batch = '';
  };
  process.once('exit', writeBatch);
  return {
    // Makes pino set `lastLevel` before each line.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string) {
      if (batch === '') setTimeout(writeBatch, BATCH_MS_MAX).unref();
      batch += line;
      if (this.lastLevel >= WARN || batch.length >= BATCH_LENGTH_MAX) writeBatch();
    },
  } as DestinationStream & { lastLevel: number };
}

let cachedMs = 0;
let cachedTime = '';

/** Returns the current time. Calls within the same millisecond reuse the string. */
function formatNow(): string {
  const now = Date.now();
  if (now !== cachedMs) {
    cachedMs = now;
    cachedTime = new Date(now).toISOString();
  }
  return cachedTime;
}
