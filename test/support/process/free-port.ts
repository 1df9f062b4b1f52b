import { createServer } from 'node:net';

/** Below the range from which the system takes ports for connections and for listeners on port 0. */
const PORT_MIN = 10_000;
const PORT_MAX = 32_000;

/** Returns a random port of 127.0.0.1 that is free. Another process takes it only if it draws the same one. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = PORT_MIN + Math.floor(Math.random() * (PORT_MAX - PORT_MIN));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
