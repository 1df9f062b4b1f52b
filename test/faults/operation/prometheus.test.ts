/**
 * A Prometheus server scrapes the demo: each panel of the dashboard has data, and an outage fires its alert.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../../support/documents.ts';
import { createClient, fetchFrom } from '../../support/graphql-client.ts';
import { findFreePort } from '../../support/process/free-port.ts';
import { type ServerProcess, startServerProcess } from '../../support/process/server-process.ts';
import { IS_SHORT } from '../fixtures/settings.ts';

const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0;
if (!hasPrometheus)
  console.warn('The test of the dashboard is skipped: prometheus is not installed.');

const POLLING = { timeout: 120_000, interval: 500 };

interface Dashboard {
  panels: { title: string; targets?: { expr: string }[] }[];
}

const dashboard: Dashboard = JSON.parse(
  readFileSync(join(ROOT, 'ops', 'grafana-dashboard.json'), 'utf8'),
);
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr })),
);

interface Sample {
  metric: Record<string, string>;
  value: [number, string];
}

interface Prometheus {
  query(expr: string): Promise<Sample[]>;
}

/** Starts Prometheus. It stops when the test ends. */
async function startPrometheus(metricsPort: number): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-prometheus-'));
  const port = await findFreePort();
  const rules = readFileSync(join(ROOT, 'ops', 'alerts.yaml'), 'utf8');
  // In the short form, alerts fire sooner.
  writeFileSync(
    join(folder, 'alerts.yaml'),
    IS_SHORT ? rules.replace(/for: \d+m/g, 'for: 2s') : rules,
  );
  const settings = `
global: { scrape_interval: 500ms, evaluation_interval: 1s }
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: gateway
    static_configs: [{ targets: ["127.0.0.1:${metricsPort}"] }]
`;
  writeFileSync(join(folder, 'prometheus.yml'), settings);
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn('prometheus', args, { stdio: 'ignore' });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${port}`;
  const fetchStatus = async () => (await fetch(`${url}/-/ready`).catch(() => null))?.status;
  await expect.poll(fetchStatus, POLLING).toBe(200);
  return {
    async query(expr) {
      const parameters = new URLSearchParams({ query: expr });
      const response = await fetch(`${url}/api/v1/query?${parameters}`);
      const { status, data, error } = await response.json();
      if (status !== 'success') throw new Error(`${expr}: ${error}`);
      return data.result;
    },
  };
}

const WRITE_RECORDS = `mutation WriteRecords($email: String!) {
  writeRecords(input: { projectIdOrName: "demo", integrationIdOrName: "crm-sync", objectName: "contacts",
    groupRef: "acme", type: CREATE, records: { record: { email: $email, lastname: "Load" } } }) { operation { id } }
}`;
const TRIGGER_READ = `mutation TriggerRead { triggerRead(input: { projectIdOrName: "demo", integrationIdOrName: "crm-sync",
  objectName: "contacts", groupRef: "acme" }) { operation { id } } }`;
const LIST_CONNECTIONS =
  'query Connections { project(idOrName: "demo") { connections(first: 50) { nodes { id authScheme } } } }';
const REFRESH_CONNECTION = `mutation RefreshConnection($input: RefreshConnectionInput!) {
  refreshConnection(input: $input) { connection { id } }
}`;
const TOO_DEEP = `query TooDeep { viewer { ${'project { viewer { '.repeat(8)} id ${'} } '.repeat(8)} } }`;

/** Writes, reads and refreshes in the demo until the signal aborts. */
async function runDemoWork({ demo }: ServerProcess, signal: AbortSignal): Promise<void> {
  const { url, apiKey } = demo;
  const headers = { 'x-api-key': apiKey };
  const client = createClient(fetchFrom(url), headers);
  const { nodes } = (await client.query(LIST_CONNECTIONS)).project.connections;
  const refreshable = nodes.find(
    ({ authScheme }: { authScheme: string }) => authScheme === 'OAUTH2_CLIENT_CREDENTIALS',
  );
  const stream = fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { ...headers, accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({
      query: 'subscription Events { notificationEvents(projectIdOrName: "demo") { cursor } }',
    }),
    signal,
  });
  stream.catch(() => {});
  while (!signal.aborted) {
    await client.query(WRITE_RECORDS, { email: `${crypto.randomUUID()}@example.com` });
    await client.query(TRIGGER_READ);
    await client.query(REFRESH_CONNECTION, {
      input: { projectIdOrName: 'demo', connectionId: refreshable.id },
    });
    await client.request(TOO_DEEP);
    await fetch(`${url}/v1/projects/demo/integrations`, { headers });
    await delay(200);
  }
}

/** Replaces the variables of a Grafana query. */
const fillVariables = (expr: string) =>
  expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*');

async function listQueriesWithoutData({ query }: Prometheus): Promise<string[]> {
  const results = await Promise.all(
    queries.map(async ({ title, expr }) => {
      const samples = await query(fillVariables(expr));
      const hasData = samples.some(({ value: [, text] }) => !Number.isNaN(Number(text)));
      return hasData ? [] : [`${title}: ${expr}`];
    }),
  );
  return results.flat();
}

test.skipIf(!hasPrometheus)(
  'provides data for each panel of the dashboard, and fires the alert of a stopped gateway',
  async () => {
    const metricsPort = await findFreePort();
    const server = await startServerProcess({ METRICS_PORT: String(metricsPort) });
    const prometheus = await startPrometheus(metricsPort);
    const controller = new AbortController();
    const demoWork = runDemoWork(server, controller.signal);
    try {
      await expect.poll(() => listQueriesWithoutData(prometheus), POLLING).toEqual([]);
      expect(queries.length).toBeGreaterThan(30);
      expect(await prometheus.query('ALERTS{alertstate="firing"}')).toEqual([]);
    } finally {
      controller.abort();
      await demoWork;
      await server.stop();
    }
    const listFiring = async () =>
      (await prometheus.query('ALERTS{alertstate="firing"}')).map(({ metric }) => metric.alertname);
    await expect.poll(listFiring, POLLING).toContain('GatewayDown');
  },
);
