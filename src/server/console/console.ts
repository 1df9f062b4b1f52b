/**
 * The console at /console and the connect page at /connect: built files, and a page for every other address below
 * /console, which its own script reads. They need no credentials: what they show comes over the API, with those of
 * their readers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Services } from '../../domain/call.ts';
import { findAllowedOrigins } from '../../domain/project/origins.ts';
import type { Log } from '../../log.ts';
import type { Handler, RequestFacts } from '../http/request-facts.ts';
import { page } from '../plain-page.ts';
import { BUILT, buildIfOld, changedAt } from './build-console.ts';
import { type BuiltFile, listBuiltFiles } from './built-files.ts';
import { type DemoSignIn, isFromThisMachine } from './demo-sign-in.ts';
import { sendFile, sendPage } from './send-file.ts';

const PATH = '/console';
const PAGE = 'index.html';
const DEMO = `${PATH}/demo.json`;
const CONNECT_PAGE = 'connect.html';
const CONNECT_SCRIPT = '/connect.js';

export interface ConsoleParts {
  log: Log;
  services: Services;
  /** Null if there is no demo, or not yet. */
  demo: () => DemoSignIn | null;
}

type Files = Map<string, BuiltFile>;
type Send = (
  request: { req: IncomingMessage; res: ServerResponse; facts: RequestFacts },
  files: Files,
) => Promise<void>;

export function createConsole(parts: ConsoleParts): { console: Handler; connect: Handler } {
  const { log, services, demo } = parts;
  let built: Promise<void> | undefined;
  let listed: { at: number; files: Promise<Files> } | undefined;
  const filesNow = async () => {
    built ??= buildIfOld(log);
    await built;
    // A build by hand puts another folder in its place, under a running server.
    const at = await changedAt(BUILT);
    if (listed?.at !== at) {
      listed = { at, files: listBuiltFiles(BUILT).catch((): Files => new Map()) };
    }
    return listed.files;
  };
  const sentBy = (send: Send): Handler => {
    return (req, res, facts) => {
      filesNow()
        .then((known) => send({ req, res, facts }, known))
        .catch((error: unknown) => {
          if (!res.headersSent) log.error({ err: error, path: facts.path }, 'console.failed');
          res.destroy();
        });
    };
  };
  const consoleFiles = sentBy(sendConsole);
  return {
    console: (req, res, facts) => {
      if (facts.path !== DEMO) return consoleFiles(req, res, facts);
      const known = isFromThisMachine(req, facts.address) ? demo() : null;
      sendDemo(res, known);
    },
    connect: sentBy((request, known) => sendConnect(request, known, services)),
  };
}

function sendDemo(res: ServerResponse, demo: DemoSignIn | null): void {
  if (!demo) return void res.writeHead(204).end();
  const { apiKey, bearerToken } = demo;
  res.writeHead(200, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ apiKey, bearerToken }));
}

const sendConsole: Send = async ({ req, res, facts: { path } }, files) => {
  const below = path.slice(PATH.length + 1);
  const file = files.get(below);
  const index = files.get(PAGE);
  if (file?.isAlone) return sendFile(req, res, file);
  if (below.startsWith('assets/')) return void res.writeHead(404).end();
  if (!index) return sendMissing(res);
  // What the page loads lies in /console, however deep its own address is.
  const depth = path.split('/').length - 2;
  const up = depth === 0 ? 'console/' : `./${'../'.repeat(depth - 1)}`;
  return sendPage(req, res, { page: index, up, framedBy: [] });
};

/** Whose pages may frame it is the project's choice: a token, which the server doesn't see, has to be of that project. */
async function sendConnect(
  { req, res, facts: { path } }: Parameters<Send>[0],
  files: Files,
  services: Services,
): Promise<void> {
  const built = files.get(path === CONNECT_SCRIPT ? path.slice(1) : CONNECT_PAGE);
  if (!built) return sendMissing(res);
  if (path === CONNECT_SCRIPT) return sendFile(req, res, built);
  const project = new URLSearchParams(req.url?.split('?')[1]).get('project');
  const framedBy = project === null ? [] : await findAllowedOrigins(services, project);
  return sendPage(req, res, { page: built, up: 'console/', framedBy });
}

async function sendMissing(res: ServerResponse): Promise<void> {
  const answered = page(503, 'The console is not built', [
    'A production install has no packages to build it with. Build it where all packages are installed, by `npm run console`, and bring the folder console/dist along.',
  ]);
  res.writeHead(answered.status, Object.fromEntries(answered.headers)).end(await answered.text());
}
