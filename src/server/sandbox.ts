/** The built-in provider, which listens beside the gateway. */
import type { Config } from '../config.ts';
import { type Sandbox, type SandboxHost, startSandbox } from './sandbox-server.ts';
import { shareSandbox } from './shared-sandbox.ts';

/** One for all processes of a database: whatever one of them writes to it, the others read. */
export async function openSandbox(host: SandboxHost): Promise<Sandbox> {
  return host.database.kind === 'embedded' ? ownSandbox(host.config) : shareSandbox(host);
}

/** The embedded database has one process, so there is nobody to share with. */
async function ownSandbox(config: Config): Promise<Sandbox> {
  const server = await startSandbox(config);
  return {
    url: () => server.url,
    server: () => server,
    fillWith: (fill) => fill(server),
    [Symbol.asyncDispose]: () => server.close(),
  };
}
