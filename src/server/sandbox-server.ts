/** What the gateway sees of the sandbox, and how its server is started. */
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import { type SandboxServer, startSandboxServer } from '../sandbox/server.ts';

export type FillSandbox = (server: SandboxServer) => void;

export interface Sandbox extends AsyncDisposable {
  /** Where it is at present, without a trailing slash. */
  url: () => string;
  /** Throws where another process of the database runs it. */
  server(): SandboxServer;
  /** Fills it as it is now, if this process runs it, and each that this process starts from now on. */
  fillWith(fill: FillSandbox): void;
}

export interface SandboxHost {
  config: Config;
  database: Database;
  log: Log;
}

/**
 * On SANDBOX_PORT where it is given; else where it was last, so that addresses in it stay right; else on the
 * port after the gateway's, or on any free one.
 */
export async function startSandbox(config: Config, lastUrl?: string): Promise<SandboxServer> {
  const { SANDBOX_HOST: host, SANDBOX_PORT: port } = config;
  if (port !== 0) return startSandboxServer({ host, port });
  for (const wished of wishedPorts(config, lastUrl)) {
    try {
      return await startSandboxServer({ host, port: wished });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
  return startSandboxServer({ host, port: 0 });
}

function wishedPorts({ PORT }: Config, lastUrl?: string): number[] {
  const last = lastUrl ? [Number(new URL(lastUrl).port)] : [];
  return PORT === 0 ? last : [...last, PORT + 1];
}
