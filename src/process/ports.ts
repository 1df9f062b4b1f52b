/** Checks at start that the process can listen on its ports, before anything is opened or written. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { StartRefused } from '../kernel/errors.ts';
import type { Config } from '../settings/config.ts';

/** Throws StartRefused with every configured port on which the process can't listen. */
export async function requireUsablePorts(
  config: Pick<
    Config,
    | 'HOST'
    | 'PORT'
    | 'DEMO'
    | 'SANDBOX'
    | 'SANDBOX_HOST'
    | 'SANDBOX_PORT'
    | 'DATABASE_URL'
    | 'METRICS_HOST'
    | 'METRICS_PORT'
  >,
): Promise<void> {
  const ports: ConfiguredPort[] = [{ name: 'PORT', host: config.HOST, port: config.PORT }];
  // With DATABASE_URL, the port may be taken by the sandbox that all processes share.
  const mayHaveSandbox = config.SANDBOX ?? config.DEMO ?? true;
  if (mayHaveSandbox && config.SANDBOX_PORT !== 0 && !config.DATABASE_URL) {
    ports.push({ name: 'SANDBOX_PORT', host: config.SANDBOX_HOST, port: config.SANDBOX_PORT });
  }
  if (config.METRICS_PORT) {
    ports.push({ name: 'METRICS_PORT', host: config.METRICS_HOST, port: config.METRICS_PORT });
  }
  const problems: string[] = [];
  for (const port of ports) {
    const problem = await findProblem(port);
    if (problem !== null) problems.push(problem);
  }
  if (problems.length > 0) throw new StartRefused(problems.join('\n'));
}

/**
 * Runs `listen`. Throws StartRefused if the process can't listen on the port, which another process may have taken since
 * the check.
 */
export async function listenAt<T>(port: ConfiguredPort, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    const { syscall } = error as NodeJS.ErrnoException;
    throw syscall === 'listen'
      ? new StartRefused(describeProblem(port, error as NodeJS.ErrnoException))
      : error;
  }
}

interface ConfiguredPort {
  name: 'PORT' | 'SANDBOX_PORT' | 'METRICS_PORT';
  host: string;
  port: number;
}

/** Returns why the process can't listen on the port. Null if it can. */
async function findProblem({ name, host, port }: ConfiguredPort): Promise<string | null> {
  const server = createServer();
  try {
    server.listen({ port, host });
    await once(server, 'listening');
    return null;
  } catch (error) {
    return describeProblem({ name, host, port }, error as NodeJS.ErrnoException);
  } finally {
    if (server.listening) await new Promise((closed) => server.close(closed));
  }
}

function describeProblem(
  { name, host, port }: ConfiguredPort,
  { code, message }: NodeJS.ErrnoException,
): string {
  switch (code) {
    case 'EADDRINUSE':
      return (
        `Another process is using port ${port} of ${host}. Stop it, or give this server another ` +
        `${name}; 0 selects any free port.`
      );
    case 'EACCES':
      return `This user may not listen on port ${port}. Give this server another ${name}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `This machine has no address ${host} to listen on. Give this server another ${name.replace('PORT', 'HOST')}.`;
    default:
      return `Cannot listen on port ${port} of ${host}: ${message}`;
  }
}
