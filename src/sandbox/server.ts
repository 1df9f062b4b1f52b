/**
 * A CRM-like service for trying integrations: an HTTP server with authentication, rate limits and injected faults. All
 * data is in memory. Its credentials are public (authentication.ts), so it should listen on a loopback address.
 * src/providers/sandbox/README.md lists its paths and rules.
 */
import { z } from 'zod';
import { createHtmlPage, type Html, html } from '../html.ts';
import { authenticate } from './authentication.ts';
import { createDeskRoutes } from './desk/desk-routes.ts';
import { Faults, faultSchema } from './faults.ts';
import { Inbox } from './inbox/inbox.ts';
import { createInboxRoutes } from './inbox/inbox-routes.ts';
import { listen } from './listener.ts';
import { AuthorizationServer } from './oauth/authorization-server.ts';
import { createOauthRoutes } from './oauth/oauth-routes.ts';
import { IdempotencyKeys } from './records/idempotency.ts';
import {
  OBJECT_NAMES,
  type ObjectDefinition,
  TABLE_NAMES,
  type TableName,
} from './records/objects.ts';
import { createRecordRoutes } from './records/record-routes.ts';
import { createRecordView } from './records/record-view.ts';
import { Seeder } from './records/seed.ts';
import type { RecordTable, StoredRecord } from './records/table.ts';
import { RECORDS_PER_OBJECT_MAX, Workspace } from './records/workspace.ts';
import { parseInput, parseJsonBody, type SandboxRequest } from './request.ts';
import type { SandboxRoute } from './router.ts';
import { SandboxRefusal } from './sandbox-refusal.ts';
import { createDefaultSettings, type Settings, settingsSchema } from './settings.ts';
import { createWebhookRoutes } from './webhooks/webhook-routes.ts';
import { Webhooks } from './webhooks/webhook-subscriptions.ts';

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
  /** Adds records, which are the same in every run. */
  seed(name: TableName, count: number): void;
  /** Closes the server and cuts open connections. The data is lost. */
  close(): Promise<void>;
}

/** Starts the sandbox. Port 0 selects a free port. `now` replaces the clock of tokens, records and limits. */
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
  const admit = ({ headers }: SandboxRequest) => {
    rateLimit.take();
    return authenticate(headers, oauth);
  };
  const routes = [
    ...createRecordRoutes({ workspace, idempotencyKeys: new IdempotencyKeys(now), admit }),
    ...createWebhookRoutes({ webhooks, admit }),
    ...createDeskRoutes({ desk, admit }),
    ...createOauthRoutes(oauth),
    ...createInboxRoutes(inbox),
    ...createControlRoutes({ faults, settings, seeder }),
    createFrontPageRoute(getTable),
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

const seedSchema = z.strictObject({
  objectName: z.enum(TABLE_NAMES),
  count: z.int().min(1).max(RECORDS_PER_OBJECT_MAX),
});

interface ControlServices {
  faults: Faults;
  settings: Settings;
  seeder: Seeder;
}

/** Creates the routes that control the sandbox. Faults do not affect them, because they are not part of the service. */
function createControlRoutes({ faults, settings, seeder }: ControlServices): SandboxRoute[] {
  return [
    {
      method: 'PUT',
      pattern: '/control/faults',
      handle(request) {
        const fault = parseInput(faultSchema, parseJsonBody(request));
        faults.set(fault);
        return { status: 200, json: fault };
      },
    },
    {
      method: 'DELETE',
      pattern: '/control/faults',
      handle() {
        faults.clear();
        return { status: 204 };
      },
    },
    {
      method: 'PUT',
      pattern: '/control/settings',
      handle(request) {
        Object.assign(settings, parseInput(settingsSchema.partial(), parseJsonBody(request)));
        return { status: 200, json: settings };
      },
    },
    {
      method: 'POST',
      pattern: '/control/seed',
      handle(request) {
        const { objectName, count } = parseInput(seedSchema, parseJsonBody(request));
        seeder.seed(objectName, count);
        return { status: 201, json: { objectName, count } };
      },
    },
  ];
}

/** A token bucket with the capacity of one second, which refills continuously. */
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
  take(): void {
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

const FRONT_PAGE_RECORDS_MAX = 10;

/** Creates the route `GET /`, a page with the newest records of the sandbox. */
function createFrontPageRoute(getTable: (name: TableName) => RecordTable): SandboxRoute {
  return {
    method: 'GET',
    pattern: '/',
    handle() {
      const sections = TABLE_NAMES.map((name) => {
        const table = getTable(name);
        return renderSection(
          table.definition,
          table.size,
          table.listNewest(FRONT_PAGE_RECORDS_MAX),
        );
      });
      const content = html`<p>A CRM and a help desk to try integrations with. They are in memory:
        restarting the sandbox empties it. <a href="/objects">The objects of the CRM</a> as JSON.</p>${sections}`;
      return { status: 200, html: createHtmlPage('Sandbox CRM', content) };
    },
  };
}

function renderSection(definition: ObjectDefinition, size: number, records: StoredRecord[]): Html {
  const { name, displayName, fields } = definition;
  const headerCells = fields.map((field) => html`<th>${field.displayName}</th>`);
  const rows = records.map(createRecordView(definition)).map((view) => {
    return html`<tr>${fields.map((field) => html`<td>${formatCell(view[field.name])}</td>`)}</tr>`;
  });
  const links =
    name === 'people'
      ? html`<a href="/desk/people">Records</a>`
      : html`<a href="/objects/${name}">Fields</a> <a href="/objects/${name}/records">Records</a>`;
  return html`<h2>${displayName}: ${size}</h2>
    <p>${links}</p>
    <table><thead><tr>${headerCells}</tr></thead><tbody>${rows}</tbody></table>`;
}

function formatCell(value: unknown): string {
  return value === null ? '' : String(value);
}
