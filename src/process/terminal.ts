/** What a person at a terminal reads instead of JSON. */
import pretty from 'pino-pretty';
import { createLog, type Log } from '../log.ts';

/** Logs as readable lines, written at once. */
export function createTerminalLog(level: string): Log {
  const format = pretty.prettyFactory({
    colorize: pretty.isColorSupported,
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
  });
  return createLog(level, {
    write(line) {
      const entry = JSON.parse(line) as Entry;
      // The greeting says it already.
      if (entry.msg !== 'server.ready') process.stdout.write(format(shortened(entry)));
    },
  });
}

type Entry = Record<string, unknown>;

/** The line of a request. */
function shortened(entry: Entry): Entry {
  if (entry.msg !== 'request.ended') return entry;
  const { level, time, method, path, status, ms } = entry;
  return { level, time, msg: `${method} ${path} ${status} in ${ms} ms` };
}

export interface Addresses {
  url: string;
  sandboxUrl: string;
  /** The file with the demo's key; null if there is no demo. */
  demoFile: string | null;
}

/** What is printed when the server is ready: where to go. */
export function greeting({ url, sandboxUrl, demoFile }: Addresses): string {
  const rows = [
    ['Console', url],
    ['First commands', `${url}/start`],
    ['GraphiQL', `${url}/graphql`],
    ['REST reference', `${url}/v1/docs`],
    ['Sandbox CRM', sandboxUrl],
    ...(demoFile ? [["The demo's key", `apiKey in ${demoFile}`]] : []),
  ];
  const lines = rows.map(([name = '', place]) => `  ${name.padEnd(16)}${place}`);
  return ['', 'The gateway is ready. Ctrl-C stops it.', '', ...lines, '', ''].join('\n');
}
