/**
 * A CRM-like service for trying integrations: an HTTP server with authentication, rate limits and injected faults. All
 * data is in memory. Its credentials are public (authentication.ts), so it should listen on a loopback address.
 * src/providers/sandbox/README.md lists its paths and rules.
 */
import { authenticate } from './authentication.ts';
import { createDeskRoutes } from './desk/desk-routes.ts';
import { createControlRoutes, Faults } from './faults.ts';
import { createFrontPageRoute } from './front-page.ts';
import { createInboxRoutes, Inbox } from './inbox/inbox.ts';
import { listen } from './listener.ts';
import { AuthorizationServer } from './oauth/authorization-server.ts';
import { createOauthRoutes } from './oauth/oauth-routes.ts';
import { IdempotencyKeys } from './records/idempotency.ts';
import { OBJECT_NAMES, type TableName } from './records/objects.ts';
import { createRecordRoutes } from './records/record-routes.ts';
import { createRecordView } from './records/record-view.ts';
import { Seeder } from './records/seed.ts';
import { Workspace } from './records/workspace.ts';
import type { SandboxRoute } from './router.ts';
import { SandboxRefusal } from './sandbox-refusal.ts';
import { createDefaultSettings, type Settings } from './settings.ts';
import { createWebhookRoutes, Webhooks } from './webhooks/webhook-subscriptions.ts';

export interface SandboxServer extends AsyncDisposable {
  /** The base URL without a trailing slash. */
  url: string;
  oauth: AuthorizationServer;
  faults: Faults;
  inbox: Inbox;
  /** Settings of the running server. Changes take effect immediately. */
  settings: Settings;
  /** Returns all records of an object, in the order of their last changes. */
  listRecords(name: TableName): Record<string, unknown>[];
  /** Adds records. Their values are the same in every run. */
  seed(name: TableName, count: number): void;
  /** Closes the server and cuts open connections. The data is lost. */
  close(): Promise<void>;
}

/** Starts the sandbox. Port 0 selects a free port. Tests replace the clock with `now`. */
export async function startSandboxServer({
  host,
  port,
  now = () => new Date(),
}: {
  host: string;
  port: number;
  now?: () => Date;
}): Promise<SandboxServer> {
  const settings = createDefaultSettings();
  const webhooks = new Webhooks(settings, now);
  const workspace = new Workspace(OBJECT_NAMES, now, (event) => webhooks.notify(event));
  const desk = new Workspace(['people'], now);
  const getTable = (name: TableName) => (name === 'people' ? desk : workspace).getTable(name);
  const seeder = new Seeder(getTable);
  const oauth = new AuthorizationServer(settings, now);
  const faults = new Faults();
  const inbox = new Inbox(now);
  const rateLimit = new RateLimit(settings, now);
  const serviceRoutes = [
    ...createRecordRoutes(workspace, new IdempotencyKeys(now)),
    ...createWebhookRoutes(webhooks),
    ...createDeskRoutes(desk),
  ];
  const routes = [
    ...serviceRoutes.map((route) => protectRoute(route, rateLimit, oauth)),
    ...createOauthRoutes(oauth),
    ...createInboxRoutes(inbox),
    ...createControlRoutes({ faults, settings, seeder }),
    createFrontPageRoute({ workspace, desk }),
  ];
  const listener = await listen({ host, port, routes, faults });
  const close = () => {
    webhooks.close();
    return listener.close();
  };
  return {
    url: listener.url,
    oauth,
    faults,
    inbox,
    settings,
    listRecords(name) {
      const table = getTable(name);
      const { records } = table.readPage({ limit: Number.POSITIVE_INFINITY });
      return records.map(createRecordView(table.definition));
    },
    seed: (name, count) => seeder.seed(name, count),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Adds the rate limit and the authentication of the caller to a route. */
function protectRoute(
  route: SandboxRoute,
  rateLimit: RateLimit,
  oauth: AuthorizationServer,
): SandboxRoute {
  return {
    ...route,
    handle(request) {
      rateLimit.takeToken();
      return route.handle({ ...request, caller: authenticate(request.headers, oauth) });
    },
  };
}

/** A token bucket that refills continuously and holds at most one second of requests. */
class RateLimit {
  readonly #settings: Settings;
  readonly #now: () => Date;
  #tokens = Number.POSITIVE_INFINITY;
  #refilledAtMs = 0;

  constructor(settings: Settings, now: () => Date) {
    this.#settings = settings;
    this.#now = now;
  }

  /** Takes a token. Throws a SandboxRefusal (429) if the bucket is empty. */
  takeToken(): void {
    const { requestsPerSecond } = this.#settings;
    const nowMs = this.#now().getTime();
    const tokens = this.#tokens + ((nowMs - this.#refilledAtMs) / 1_000) * requestsPerSecond;
    this.#tokens = Math.min(tokens, Math.max(1, requestsPerSecond));
    this.#refilledAtMs = nowMs;
    if (this.#tokens < 1) {
      const waitSeconds = Math.ceil((1 - this.#tokens) / requestsPerSecond);
      const message = `More than ${requestsPerSecond} requests in a second`;
      const headers = { 'retry-after': String(waitSeconds) };
      throw new SandboxRefusal(429, { code: 'rate_limited', message }, headers);
    }
    this.#tokens -= 1;
  }
}
