/**
 * The console at /console and the connect page at /connect: built files, and a page for every other address below
 * /console, which its own script reads. They need no credentials: what they show comes over the API, with those of
 * their readers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Services } from '../../domain/call.ts';
import { findAllowedOrigins } from '../../domain/project/origins.ts';
import { isStorableText } from '../../domain/storable-json.ts';
import { ServiceUnavailable } from '../../errors.ts';
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
  /** A token of the demo's builder that expires within an hour; undefined if the issuer is not the local one. */
  mintDemoToken: () => Promise<string | undefined>;
}

type Files = Map<string, BuiltFile>;
type SendFiles = (
  request: { req: IncomingMessage; res: ServerResponse; facts: RequestFacts },
  files: Files,
) => Promise<void>;

export function createConsole(parts: ConsoleParts): { console: Handler; connect: Handler } {
  const { log, services, demo, mintDemoToken } = parts;
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
  const sentBy = (send: SendFiles): Handler => {
    return (req, res, facts) => {
      filesNow()
        .then((known) => send({ req, res, facts }, known))
        .catch((error: unknown) => {
          if (error instanceof ServiceUnavailable && !res.headersSent) return sendAway(res, error);
          if (!res.headersSent) log.error({ err: error, path: facts.path }, 'console.failed');
          res.destroy();
        });
    };
  };
  const consoleFiles = sentBy(sendConsole);
  return {
    console: (req, res, facts) => {
      if (facts.path !== DEMO) return consoleFiles(req, res, facts);
      const { headers } = req;
      const { httpVersion, address } = facts;
      const publicUrl = services.config.PUBLIC_URL;
      const isLocal = isFromThisMachine({ headers, httpVersion, address, publicUrl });
      sendDemo(res, isLocal ? demo() : null, mintDemoToken).catch((error: unknown) => {
        log.error({ err: error, path: facts.path }, 'console.failed');
        res.destroy();
      });
    },
    connect: sentBy((request, known) => sendConnect(request, known, services)),
  };
}

async function sendDemo(
  res: ServerResponse,
  demo: DemoSignIn | null,
  mintDemoToken: ConsoleParts['mintDemoToken'],
): Promise<void> {
  if (!demo) return void res.writeHead(204).end();
  const { apiKey } = demo;
  const bearerToken = await mintDemoToken();
  res.writeHead(200, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ apiKey, bearerToken }));
}

const sendConsole: SendFiles = async ({ req, res, facts: { path } }, files) => {
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
  { req, res, facts: { path } }: Parameters<SendFiles>[0],
  files: Files,
  services: Services,
): Promise<void> {
  const built = files.get(path === CONNECT_SCRIPT ? path.slice(1) : CONNECT_PAGE);
  if (!built) return sendMissing(res);
  if (path === CONNECT_SCRIPT) return sendFile(req, res, built);
  const project = new URLSearchParams(req.url?.split('?')[1]).get('project');
  if (project !== null && !isStorableText(project)) {
    return send(
      res,
      page(400, 'This link is not valid', [
        'The link names no project. Go back to the app that sent you here and connect again.',
      ]),
    );
  }
  const framedBy = project === null ? [] : await findAllowedOrigins(services, project);
  return sendPage(req, res, { page: built, up: 'console/', framedBy });
}

function sendMissing(res: ServerResponse): Promise<void> {
  return send(
    res,
    page(503, 'The console is not built', [
      'A production install has no packages to build it with. Build it on a machine that has all packages, by `npm run console`, and copy the folder console/dist.',
    ]),
  );
}

function sendAway(res: ServerResponse, { retryAfterSeconds }: ServiceUnavailable): Promise<void> {
  const response = page(503, 'Not available', [
    'The gateway is not available at the moment. Reload this page in a few seconds.',
  ]);
  response.headers.set('retry-after', String(retryAfterSeconds));
  return send(res, response);
}

async function send(res: ServerResponse, response: Response): Promise<void> {
  res.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text());
}
