/** Installations whose requests are forwarded, and a server in the provider's place that does as it is told. */
import {
  type Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Provider } from '../../../src/providers/contract.ts';
import type { Tenant, TestApp } from '../app.ts';
import { generate } from '../scenes/connections.ts';
import { CREATE_INSTALLATION, contentFor, integrate } from '../scenes/integrations.ts';
import { serve } from '../wire/serve.ts';

type Behaviour = (req: IncomingMessage, res: ServerResponse) => void;

export interface Upstream extends AsyncDisposable {
  url: string;
  /** Every request that arrived, the newest last. */
  requests: IncomingMessage[];
  /** What is done with requests from now on. */
  behave(behaviour: Behaviour): void;
}

export async function startUpstream(): Promise<Upstream> {
  let behaviour: Behaviour = (_req, res) => res.end('{}');
  const requests: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    requests.push(req);
    behaviour(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    behave(next) {
      behaviour = next;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

export function crmAt(baseUrl: string, given: Partial<Provider> = {}): Provider {
  return {
    name: 'crm',
    displayName: 'CRM',
    baseUrl,
    authSchemes: ['API_KEY'],
    apiKey: { in: 'header', name: 'Authorization', valuePrefix: 'Key ' },
    limits: {
      concurrency: 4,
      requestsPerSecond: 1_000,
      timeoutMs: 30_000,
      responseBytesMax: 1_000,
      batchSize: 1,
      pageSize: 1,
    },
    takes: { associations: false, headers: false, idempotencyKeyMs: null, allOrNone: [] },
    capabilities: { proxy: true },
    ...given,
  };
}

/** The path of an installation's proxy, with an integration of its own. */
export async function proxyPath(
  app: Pick<TestApp, 'app'>,
  tenant: Tenant,
  { provider = 'crm', connectionId, enabled = true, apiKey = 'key-in-clear' }: Proxied = {},
) {
  // An integration whose proxy is disabled must do something else.
  const subscribe = { objects: [{ objectName: 'contacts', otherEvents: ['contact.merged'] }] };
  const content = contentFor(`${provider}-proxy`, {
    provider,
    read: null,
    proxy: { enabled },
    ...(!enabled && { subscribe }),
  });
  const { id: integrationIdOrName } = await integrate(app, tenant, content);
  const given = { provider, apiKey };
  const id = connectionId ?? (await generate(tenant, given)).id;
  const { projectId: projectIdOrName } = tenant;
  const input = { projectIdOrName, integrationIdOrName, groupRef: 'acme', connectionId: id };
  const { createInstallation } = await tenant.query(CREATE_INSTALLATION, { input });
  const path = `/v1/projects/${tenant.projectName}/installations/${createInstallation.installation.id}`;
  return { path: `${path}/proxy`, connectionId: id as string };
}

interface Proxied {
  provider?: string;
  connectionId?: string;
  enabled?: boolean;
  apiKey?: string;
}

export interface Asked {
  method?: string;
  headers?: Record<string, string | string[]>;
  /** Nothing is sent but the head where it is left out; the caller then writes and ends. */
  body?: string | Buffer;
  agent?: Agent;
}

/** The app on a port, and requests of which each byte is the test's. */
export async function startCalling({ app }: Pick<TestApp, 'app'>) {
  const listening = await serve(app.handler);
  const open = (path: string, { method = 'GET', headers = {}, body, agent }: Asked = {}) => {
    // In parts: a URL would put the path in order.
    const { hostname, port } = new URL(listening.url);
    const asking = request({ hostname, port, path, method, headers, agent });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      asking.once('response', resolve);
      asking.once('error', reject);
    });
    if (body !== undefined) asking.end(body);
    return { asking, answered };
  };
  return {
    open,
    async ask(path: string, asked: Asked = {}): Promise<Whole> {
      const response = await open(path, { body: '', ...asked }).answered;
      const chunks = await response.toArray();
      const text = Buffer.concat(chunks).toString();
      return { status: response.statusCode ?? 0, headers: response.headers, text };
    },
    [Symbol.asyncDispose]: () => listening.stop(),
  };
}

interface Whole {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}
