/**
 * A CRM-like service to try integrations with: a real HTTP server with real authentication, real
 * rate limits and faults on demand. Everything is in memory and ends with the process. It trusts
 * its network (see authentication.ts), so it belongs on a loopback address. ../README.md lists
 * its paths and rules.
 */
import { authenticate } from './authentication.ts';
import { controlRoutes } from './control-routes.ts';
import { Faults } from './faults.ts';
import { frontPageRoute } from './front-page.ts';
import { Inbox } from './inbox/inbox.ts';
import { inboxRoutes } from './inbox/inbox-routes.ts';
import { listen } from './listener.ts';
import { AuthorizationServer } from './oauth/authorization-server.ts';
import { oauthRoutes } from './oauth/oauth-routes.ts';
import { RateLimit } from './rate-limit.ts';
import { IdempotencyKeys } from './records/idempotency.ts';
import type { ObjectName } from './records/objects.ts';
import { recordRoutes } from './records/record-routes.ts';
import { recordView } from './records/record-view.ts';
import { Seeder } from './records/seed.ts';
import { Workspace } from './records/workspace.ts';
import type { SandboxRequest } from './request.ts';
import { defaultSettings, type Settings } from './settings.ts';
import { webhookRoutes } from './webhooks/webhook-routes.ts';
import { Webhooks } from './webhooks/webhook-subscriptions.ts';

export interface SandboxServer extends AsyncDisposable {
  /** Without a trailing slash. */
  url: string;
  oauth: AuthorizationServer;
  faults: Faults;
  inbox: Inbox;
  /** Changes take effect at once. */
  settings: Settings;
  /** All records of an object, in the order of their last changes. */
  records(objectName: ObjectName): Record<string, unknown>[];
  /** Adds records that are the same in every run. */
  seed(objectName: ObjectName, count: number): void;
  /** Cuts open connections; what is in memory is gone. */
  close(): Promise<void>;
}

/** Port 0 takes a free one. `now` replaces the clock of tokens, records and limits. */
export async function startSandboxServer({
  host,
  port,
  now = () => new Date(),
}: {
  host: string;
  port: number;
  now?: () => Date;
}): Promise<SandboxServer> {
  const settings = defaultSettings();
  const webhooks = new Webhooks(settings, now);
  const workspace = new Workspace(now, (event) => webhooks.tell(event));
  const seeder = new Seeder(workspace);
  const oauth = new AuthorizationServer(settings, now);
  const faults = new Faults();
  const inbox = new Inbox(now);
  const rateLimit = new RateLimit(settings, now);
  const admit = ({ headers }: SandboxRequest) => {
    rateLimit.take();
    return authenticate(headers, oauth);
  };
  const routes = [
    ...recordRoutes({ workspace, idempotencyKeys: new IdempotencyKeys(now), admit }),
    ...webhookRoutes({ webhooks, admit }),
    ...oauthRoutes(oauth),
    ...inboxRoutes(inbox),
    ...controlRoutes({ faults, settings, seeder }),
    frontPageRoute(workspace),
  ];
  const listening = await listen({ host, port, routes, faults });
  const close = () => {
    webhooks.close();
    return listening.close();
  };
  return {
    url: listening.url,
    oauth,
    faults,
    inbox,
    settings,
    records(objectName) {
      const table = workspace.getTable(objectName);
      const { records } = table.page({ limit: Number.POSITIVE_INFINITY });
      return records.map(recordView(table.definition));
    },
    seed: (objectName, count) => seeder.seed(objectName, count),
    close,
    [Symbol.asyncDispose]: close,
  };
}
