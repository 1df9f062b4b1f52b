/** The built-in provider, which listens beside the gateway. */
import type { Config } from '../config.ts';
import { type Sandbox, type SandboxHost, startSandbox } from './sandbox-server.ts';
import { shareSandbox } from './shared-sandbox.ts';

/** One sandbox for all processes of a database: what one of them writes to it, the others read. */
export async function openSandbox(host: SandboxHost): Promise<Sandbox> {
  return host.database.kind === 'embedded' ? ownSandbox(host.config) : shareSandbox(host);
}

/** The embedded database has one process, so the sandbox is not shared. */
async function ownSandbox(config: Config): Promise<Sandbox> {
  const server = await startSandbox(config);
  return {
    url: () => server.url,
    server: () => server,
    fillWith: (fill) => fill(server),
    [Symbol.asyncDispose]: () => server.close(),
  };
}
