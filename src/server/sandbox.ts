/** The built-in provider listens beside the gateway, on loopback only. */
import type { Config } from '../config.ts';
import { type SandboxServer, startSandboxServer } from '../providers/sandbox/server/server.ts';

const HOST = '127.0.0.1';

/** On SANDBOX_PORT where it is given; else on the port after the gateway's, or on any free one. */
export async function openSandbox(config: Config): Promise<SandboxServer> {
  if (config.SANDBOX_PORT !== 0) {
    return startSandboxServer({ host: HOST, port: config.SANDBOX_PORT });
  }
  if (config.PORT === 0) return startSandboxServer({ host: HOST, port: 0 });
  try {
    return await startSandboxServer({ host: HOST, port: config.PORT + 1 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return startSandboxServer({ host: HOST, port: 0 });
  }
}
