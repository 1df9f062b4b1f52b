/** JSON logs on stdout, one line for each fact. Secrets are of type Secret, which prints as ***. */
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import type { ServiceUnavailable } from './errors.ts';
import { currentSpan } from './spans.ts';

export type Log = Logger;

const STDOUT = 1;
const WARN = 40;
/** Lines are written together: a write for each would cost more than most requests. */
const TOGETHER_BYTES = 8 * 1024;
const TOGETHER_MS = 100;

/** Writes to stdout, or to `lines` if given. */
export function createLog(level: string, lines?: DestinationStream): Log {
  const options = {
    level,
    base: undefined,
    timestamp: () => `,"time":"${isoNow()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { logMethod: quietly },
    mixin: traceOf,
    // The logger's own would write each line's fields into NO_TRACE, and so into all later lines.
    mixinMergeStrategy: (line, trace) => (trace === NO_TRACE ? line : { ...trace, ...line }),
    // A second safeguard: nothing should log a request's headers; if something does, these are removed.
    redact: {
      paths: ['authorization', 'headers.authorization', 'headers["x-api-key"]', 'headers.cookie'],
      censor: '***',
    },
  } satisfies LoggerOptions;
  return pino(options, lines ?? stdout());
}

/** The trace and span that a line belongs to. */
function traceOf(): object {
  const span = currentSpan();
  if (!span) return NO_TRACE;
  const { traceId, spanId } = span.spanContext();
  return { traceId, spanId };
}

const NO_TRACE = Object.freeze({});

/** By name: the job queue passes its errors on as copies. */
const OUTAGE: ServiceUnavailable['name'] = 'ServiceUnavailable';

/** An outage is logged once, by the part that failed. The errors that follow from it are logged at debug. */
const quietly: NonNullable<LoggerOptions['hooks']>['logMethod'] = function (args, method, level) {
  const { err } = (args[0] ?? {}) as { err?: unknown };
  const isConsequence = level >= WARN && (err as Error | undefined)?.name === OUTAGE;
  if (isConsequence) this.debug(...args);
  else method.apply(this, args);
};

let opened: DestinationStream | undefined;

function stdout(): DestinationStream {
  opened ??= openStdout();
  return opened;
}

/** Lines below warn wait a moment, so that they are written together; all are written before the process ends. */
function openStdout(): DestinationStream {
  const lines = pino.destination({
    dest: STDOUT,
    minLength: TOGETHER_BYTES,
    periodicFlush: TOGETHER_MS,
  });
  process.once('exit', () => lines.flushSync());
  return {
    // With this pino tells the stream the level of each line.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string) {
      lines.write(line);
      if (this.lastLevel >= WARN) lines.flushSync();
    },
  } as DestinationStream & { lastLevel: number };
}

let [knownMs, knownText] = [0, ''];

/** Lines of one millisecond share its text. */
function isoNow(): string {
  const now = Date.now();
  if (now !== knownMs) [knownMs, knownText] = [now, new Date(now).toISOString()];
  return knownText;
}
