/** JSON logs on stdout, one line for each fact. Secrets are of type Secret, which prints as ***. */
import { type Logger, pino } from 'pino';

export type Log = Logger;

export function createLog(level: string): Log {
  return pino({
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    // The second wall: nothing should log a request's headers, and if something does, not these.
    redact: {
      paths: ['authorization', 'headers.authorization', 'headers["x-api-key"]', 'headers.cookie'],
      censor: '***',
    },
  });
}
