/** Formats output for a terminal. */
import pretty from 'pino-pretty';
import { createLog, type Log } from '../kernel/log.ts';

/** Writes logs synchronously as readable lines. */
export function createTerminalLog(level: string): Log {
  const format = pretty.prettyFactory({
    colorize: pretty.isColorSupported,
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
  });
  return createLog(level, {
    write(line) {
      const entry = JSON.parse(line) as Entry;
      // The greeting contains the same information.
      if (entry.msg !== 'server.ready') process.stdout.write(format(shortenEntry(entry)));
    },
  });
}

type Entry = Record<string, unknown>;

/** Shortens the line of a request. */
function shortenEntry(entry: Entry): Entry {
  if (entry.msg !== 'request.ended') return entry;
  const { level, time, method, path, status, durationMs } = entry;
  return { level, time, msg: `${method} ${path} ${status} in ${durationMs} ms` };
}

export interface Addresses {
  url: string;
  /** Empty if the sandbox is off. */
  sandboxUrl: string;
  /** The file with the demo's key. Null without a demo. */
  demoFile: string | null;
  /** False in a worker, which has only health checks. */
  isApi: boolean;
}

/** Returns the text to print when the server is ready, with the URLs to open. */
export function formatGreeting({ url, sandboxUrl, demoFile, isApi }: Addresses): string {
  if (!isApi) return `\nThe worker is ready. Ctrl-C stops it. Health: ${url}/readyz\n\n`;
  const rows = [
    ['Console', url],
    ['First commands', `${url}/start`],
    ['GraphiQL', `${url}/graphql`],
    ['REST reference', `${url}/v1/docs`],
    ...(sandboxUrl ? [['Sandbox CRM', sandboxUrl]] : []),
    ...(demoFile ? [["The demo's key", `apiKey in ${demoFile}`]] : []),
  ];
  const lines = rows.map(([name = '', address]) => `  ${name.padEnd(16)}${address}`);
  return ['', 'The gateway is ready. Ctrl-C stops it.', '', ...lines, '', ''].join('\n');
}
