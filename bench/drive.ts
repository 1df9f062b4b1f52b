/** Keeps a server busy from some connections, each with one request at a time, and measures it. */
import { openHttpSocket } from './http-socket.ts';
import { quantile } from './median.ts';
import type { Server } from './processes/server.ts';

export interface Load {
  server: Server;
  requests: Buffer[];
  sockets: number;
  seconds: number;
}

export interface Measured {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  cpuMsPerRequest: number;
  memoryBytes: number;
  /** CPU time of this process per request, which shows whether the driver was the bottleneck. */
  driverCpuMsPerRequest: number;
}

/** Warm-up requests that are not counted. */
const WARM_UP_SECONDS = 0.5;

export async function drive({ server, requests, sockets, seconds }: Load): Promise<Measured> {
  const { hostname, port } = new URL(server.url);
  const open = await Promise.all(
    Array.from({ length: sockets }, () => openHttpSocket(hostname, Number(port))),
  );
  let next = 0;
  const run = async (durationMs: number): Promise<number[]> => {
    const latencies: number[] = [];
    const end = performance.now() + durationMs;
    await Promise.all(
      open.map(async (socket) => {
        for (let start = performance.now(); start < end; ) {
          await socket.send(requests[next++ % requests.length]!);
          const now = performance.now();
          latencies.push(now - start);
          start = now;
        }
      }),
    );
    return latencies;
  };
  try {
    await run(WARM_UP_SECONDS * 1000);
    const startMs = performance.now();
    const serverCpuMs = server.cpuMs();
    const driverBefore = process.cpuUsage();
    const latencies = await run(seconds * 1000);
    const driver = process.cpuUsage(driverBefore);
    const count = latencies.length;
    const sorted = Float64Array.from(latencies).sort();
    return {
      requestsPerSecond: (count / (performance.now() - startMs)) * 1000,
      p50Ms: quantile(sorted, 0.5),
      p99Ms: quantile(sorted, 0.99),
      cpuMsPerRequest: (server.cpuMs() - serverCpuMs) / count,
      memoryBytes: server.readMemoryBytes(),
      driverCpuMsPerRequest: (driver.user + driver.system) / 1000 / count,
    };
  } finally {
    for (const socket of open) socket.close();
  }
}
