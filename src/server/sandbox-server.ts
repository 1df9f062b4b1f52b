/** The gateway's interface to the sandbox, and the start of its server. */
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import { type SandboxServer, startSandboxServer } from '../sandbox/server.ts';

export type FillSandbox = (server: SandboxServer) => void;

export interface Sandbox extends AsyncDisposable {
  /** The current URL, without a trailing slash. */
  url: () => string;
  /** Throws if another process with the same database runs the sandbox. */
  server(): SandboxServer;
  /** Registers `fill`: it runs now if this process runs the sandbox, and again at each later start. */
  fillWith(fill: FillSandbox): void;
}

export interface SandboxHost {
  config: Config;
  database: Database;
  log: Log;
}

/**
 * Starts the sandbox on SANDBOX_PORT if it is set. Otherwise tries the port of the previous run, so that stored URLs stay
 * valid, then the port after the gateway's, then any free one.
 */
export async function startSandbox(config: Config, lastUrl?: string): Promise<SandboxServer> {
  const { SANDBOX_HOST: host, SANDBOX_PORT: port } = config;
  if (port !== 0) return startSandboxServer({ host, port });
  for (const preferredPort of listPreferredPorts(config, lastUrl)) {
    try {
      return await startSandboxServer({ host, port: preferredPort });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
  return startSandboxServer({ host, port: 0 });
}

function listPreferredPorts({ PORT }: Config, lastUrl?: string): number[] {
  const last = lastUrl ? [Number(new URL(lastUrl).port)] : [];
  return PORT === 0 ? last : [...last, PORT + 1];
}
