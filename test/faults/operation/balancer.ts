/** Starts HAProxy in front of gateways, with the configuration of docs/operations/restarts.md. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { findFreePort } from '../../support/process/free-port.ts';

export const hasBalancer = spawnSync('haproxy', ['-v']).status === 0;

/** HAProxy detects after this time, which is two checks, that a gateway is not ready. */
export const NOTICED_MS = 500;

export interface Balancer {
  url: string;
  /** Resolves when HAProxy sends requests to all gateways. */
  waitUntilAllReady(): Promise<void>;
}

/** Starts the load balancer. It stops when the test ends. */
export async function startBalancer(gateways: readonly string[]): Promise<Balancer> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-balancer-'));
  const [port, statsPort] = [await findFreePort(), await findFreePort()];
  const path = join(folder, 'haproxy.cfg');
  writeFileSync(path, formatSettings({ port, statsPort, gateways }));
  const child = spawn('haproxy', ['-db', '-f', path], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  });
  const listStates = async () => {
    const text = await fetch(`http://127.0.0.1:${statsPort}/;csv`).then(
      (response) => response.text(),
      () => '',
    );
    return text.split('\n').filter((line) => /^gateway,g\d/.test(line));
  };
  return {
    url: `http://127.0.0.1:${port}`,
    async waitUntilAllReady() {
      const countReady = async () =>
        (await listStates()).filter((line) => line.includes(',UP,')).length;
      await expect.poll(countReady, { timeout: 30_000, interval: 50 }).toBe(gateways.length);
    },
  };
}

interface Settings {
  port: number;
  statsPort: number;
  gateways: readonly string[];
}

function formatSettings({ port, statsPort, gateways }: Settings): string {
  const servers = gateways.map((url, index) => `  server g${index} ${new URL(url).host}`);
  return `
global
  maxconn 4000
defaults
  mode http
  timeout connect 5s
  timeout check 5s
  timeout client 1h
  timeout server 1h
frontend clients
  bind 127.0.0.1:${port}
  default_backend gateway
backend gateway
  option httpchk GET /readyz
  option redispatch 1
  retry-on conn-failure
  default-server check inter ${NOTICED_MS / 2}ms fall 2 rise 1
${servers.join('\n')}
frontend stats
  bind 127.0.0.1:${statsPort}
  stats enable
  stats uri /
`;
}
