/** Keeps a server busy from some connections, each with one request at a time, and measures it. */
import { openHttpSocket } from './http-socket.ts';
import type { Server } from './processes/server.ts';
import { computeQuantile } from './statistics.ts';

export interface Load {
  server: Server;
  requests: Buffer[];
  sockets: number;
  seconds: number;
}

export interface Measurement {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  cpuMsPerRequest: number;
  memoryBytes: number;
  /** CPU time of this process per request, which shows whether the driver was the bottleneck. */
  driverCpuMsPerRequest: number;
}

/** The maximum time of the warm-up, whose requests are not counted. */
const WARM_UP_SECONDS_MAX = 0.5;

export async function drive({ server, requests, sockets, seconds }: Load): Promise<Measurement> {
  const { hostname, port } = new URL(server.url);
  const openSocket = () => openHttpSocket(hostname, Number(port));
  const httpSockets = await Promise.all(Array.from({ length: sockets }, openSocket));
  let nextRequest = 0;
  const sendFor = async (durationMs: number): Promise<number[]> => {
    const latencies: number[] = [];
    const end = performance.now() + durationMs;
    await Promise.all(
      httpSockets.map(async (socket) => {
        for (let start = performance.now(); start < end; ) {
          await socket.send(requests[nextRequest++ % requests.length]!);
          const now = performance.now();
          latencies.push(now - start);
          start = now;
        }
      }),
    );
    return latencies;
  };
  try {
    await sendFor(Math.min(WARM_UP_SECONDS_MAX, seconds / 2) * 1000);
    const startMs = performance.now();
    const serverCpuMs = server.readCpuMs();
    const driverStart = process.cpuUsage();
    const latencies = await sendFor(seconds * 1000);
    const driver = process.cpuUsage(driverStart);
    const count = latencies.length;
    const sorted = Float64Array.from(latencies).sort();
    return {
      requestsPerSecond: (count / (performance.now() - startMs)) * 1000,
      p50Ms: computeQuantile(sorted, 0.5),
      p99Ms: computeQuantile(sorted, 0.99),
      cpuMsPerRequest: (server.readCpuMs() - serverCpuMs) / count,
      memoryBytes: server.readMemoryBytes(),
      driverCpuMsPerRequest: (driver.user + driver.system) / 1000 / count,
    };
  } finally {
    for (const socket of httpSockets) socket.close();
  }
}
