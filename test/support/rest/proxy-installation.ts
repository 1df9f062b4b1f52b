/** Installations with a proxy, and an upstream server whose responses tests set. */
import {
  type Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import type { Provider } from '../../../src/providers/contract.ts';
import type { Tenant, TestApp } from '../app.ts';
import { generateConnection } from '../fixtures/connections.ts';
import {
  createInstallation,
  createIntegration,
  createIntegrationContent,
} from '../fixtures/integrations.ts';
import { serve } from '../wire/serve.ts';

type Behavior = (req: IncomingMessage, res: ServerResponse) => void;

interface Upstream extends AsyncDisposable {
  url: string;
  /** All requests in the order of their arrival. */
  requests: IncomingMessage[];
  /** Sets the function that responds to later requests. */
  setHandler(behavior: Behavior): void;
}

export async function startUpstream(): Promise<Upstream> {
  let behavior: Behavior = (_req, res) => res.end('{}');
  const requests: IncomingMessage[] = [];
  const { url, stop } = await serve((req, res) => {
    requests.push(req);
    behavior(req, res);
  });
  return {
    url,
    requests,
    setHandler(newBehavior) {
      behavior = newBehavior;
    },
    [Symbol.asyncDispose]: stop,
  };
}

export function createCrmProvider(baseUrl: string, overrides: Partial<Provider> = {}): Provider {
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
    features: {
      associations: false,
      headers: false,
      idempotencyKeyLifetimeMs: null,
      allOrNoneTypes: [],
    },
    capabilities: { proxy: true },
    ...overrides,
  };
}

interface ProxyOptions {
  provider?: string;
  connectionId?: string;
  enabled?: boolean;
  apiKey?: string;
}

/** Creates an integration and installs it. Returns the path of the installation's proxy. */
export async function installProxy(
  app: Pick<TestApp, 'app'>,
  tenant: Tenant,
  { provider = 'crm', connectionId, enabled = true, apiKey = 'key-in-clear' }: ProxyOptions = {},
) {
  // An integration must have another capability if its proxy is disabled.
  const subscribe = { objects: [{ objectName: 'contacts', otherEvents: ['contact.merged'] }] };
  const content = createIntegrationContent(`${provider}-proxy`, {
    provider,
    read: null,
    proxy: { enabled },
    ...(!enabled && { subscribe }),
  });
  const { id: integrationIdOrName } = await createIntegration(app, tenant, content);
  const account = { provider, apiKey };
  const id = connectionId ?? (await generateConnection(tenant, account)).id;
  const installation = await createInstallation(tenant, { integrationIdOrName, connectionId: id });
  const path = `/v1/projects/${tenant.projectName}/installations/${installation.id}`;
  return { path: `${path}/proxy`, connectionId: id as string };
}

export interface RawRequest {
  method?: string;
  headers?: Record<string, string | string[]>;
  /** If absent, only the head is sent. The caller then writes the body and ends the request. */
  body?: string | Buffer;
  agent?: Agent;
}

interface RawResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Serves the app on a port, and sends requests with full control over their bytes. */
export async function startRawClient({ app }: Pick<TestApp, 'app'>) {
  const listening = await serve(app.handler);
  const open = (path: string, { method = 'GET', headers = {}, body, agent }: RawRequest = {}) => {
    // Passed in parts, because a URL would normalize the path.
    const { hostname, port } = new URL(listening.url);
    const outgoing = request({ hostname, port, path, method, headers, agent });
    const incoming = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve);
      outgoing.once('error', reject);
    });
    if (body !== undefined) outgoing.end(body);
    return { outgoing, incoming };
  };
  return {
    open,
    async send(path: string, options: RawRequest = {}): Promise<RawResponse> {
      const response = await open(path, { body: '', ...options }).incoming;
      const chunks = await response.toArray();
      const text = Buffer.concat(chunks).toString();
      return { status: response.statusCode ?? 0, headers: response.headers, text };
    },
    [Symbol.asyncDispose]: () => listening.stop(),
  };
}
