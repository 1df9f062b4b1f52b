import type { ProviderRequest, ProviderResponse } from '../../../src/providers/contract.ts';
import { type SandboxServer, startSandboxServer } from '../../../src/sandbox/server.ts';
import { createPlainSession } from './provider-session.ts';

export interface TestSandbox extends SandboxServer {
  /** Sends a request without credentials. The default method is GET. */
  send(request: Partial<ProviderRequest> & { path: string }): Promise<ProviderResponse>;
}

export async function startSandbox(now?: () => Date): Promise<TestSandbox> {
  const server = await startSandboxServer({ host: '127.0.0.1', port: 0, now });
  const session = createPlainSession(server.url);
  return { ...server, send: (request) => session.send({ method: 'GET', ...request }) };
}

export function createRecordRequest(
  objectName: string,
  record: unknown,
  headers: Record<string, string> = {},
): ProviderRequest {
  const path = `/objects/${objectName}/records`;
  return { method: 'POST', path, body: { record }, headers };
}
