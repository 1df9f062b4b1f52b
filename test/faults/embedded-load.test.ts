/** While the embedded database stores changes, health checks and other requests are served quickly. */
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../support/process/free-port.ts';
import { prepareEmbedded } from './fixtures/embedded/embedded-gateway.ts';
import { startGateway } from './fixtures/gateway.ts';
import { computePercentile } from './fixtures/percentile.ts';
import { IS_SHORT } from './fixtures/settings.ts';

const LOAD_MS = IS_SHORT ? 2_000 : 60_000;
const STEADY_MS = IS_SHORT ? 3_000 : 300_000;
const WRITER_COUNT = 16;
const REQUESTS_PER_SECOND = 50;
const WARM_UP_ROUNDS = 100;
const HEALTH_P99_MS_MAX = IS_SHORT ? 1_000 : 100;
const HEALTH_AT_START_MS_MAX = IS_SHORT ? 2_000 : 500;
const AFTER_START_MS = IS_SHORT ? 2_000 : 3_000;
/** Pause of a writer while the server is down. */
const RETRY_MS = 20;
const REQUEST_MS_MAX = IS_SHORT ? 10_000 : 2_000;
const HEALTH_EVERY_MS = 25;
/** The timeout of a client that checks health. */
const HEALTH_TIMEOUT_MS = 10_000;

interface DurationSummary {
  count: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

function summarize(durations: number[]): DurationSummary {
  const [p50Ms = 0, p99Ms = 0, maxMs = 0] = [0.5, 0.99, 1].map((share) =>
    Math.round(computePercentile(durations, share)),
  );
  return { count: durations.length, p50Ms, p99Ms, maxMs };
}

type Fixture = Awaited<ReturnType<typeof startFixture>>;

async function startFixture() {
  const prepared = await prepareEmbedded();
  const { tenant } = prepared;
  const env = { ...prepared.env, PORT: String(await findFreePort()) };
  const gateway = await startGateway(env);
  const { url } = gateway;
  const agent = new Agent({ connections: 64 });
  onTestFinished(() => agent.destroy());
  const headers = { 'content-type': 'application/json', 'x-api-key': tenant.apiKey };
  const send = async (query: string) => {
    const body = JSON.stringify({ query });
    const response = await request(`${url}/graphql`, {
      dispatcher: agent,
      method: 'POST',
      headers,
      body,
    });
    expect(await response.body.json()).toMatchObject({ data: {} });
  };
  let topicCount = 0;
  const project = `projectIdOrName: "${tenant.projectId}"`;
  const write = () => {
    topicCount += 1;
    return send(
      `mutation CreateTopic { createTopic(input: { ${project}, name: "t-${topicCount}" }) { topic { id } } }`,
    );
  };
  const read = () =>
    send(
      `query Topics { project(idOrName: "${tenant.projectId}") { topics(first: 20) { totalCount nodes { name } } } }`,
    );
  // Warms up, so that the code of both requests is compiled.
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) await Promise.all([write(), read()]);
  return { env, gateway, url, write, read };
}

async function measure(work: () => Promise<void>, durations: number[]): Promise<void> {
  const startMs = performance.now();
  await work();
  durations.push(performance.now() - startMs);
}

async function waitUntilListening(url: string): Promise<void> {
  while (!(await fetch(`${url}/livez`).catch(() => null))) await delay(RETRY_MS);
}

/**
 * Sends health checks at a fixed interval, without waiting for earlier responses. A closed port counts as a
 * failure.
 */
function watchHealth(url: string, paths = ['/livez', '/readyz']) {
  const agent = new Agent({ connections: 8 });
  onTestFinished(() => agent.destroy());
  const durations: number[] = [];
  const checks: Promise<void>[] = [];
  const check = async (path: string) => {
    const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS);
    const response = await request(url + path, { dispatcher: agent, signal });
    await response.body.dump();
    expect(response.statusCode).toBe(200);
  };
  const timer = setInterval(() => {
    for (const path of paths) checks.push(measure(() => check(path), durations));
  }, HEALTH_EVERY_MS);
  return async () => {
    clearInterval(timer);
    await Promise.all(checks);
    return summarize(durations);
  };
}

/** Expects quick responses at a steady rate of requests. */
async function expectSteadyResponses({ url, write, read }: Fixture): Promise<void> {
  const stopWatching = watchHealth(url);
  const durations: number[] = [];
  const runningRequests: Promise<void>[] = [];
  const startMs = performance.now();
  while (performance.now() - startMs < STEADY_MS) {
    const dueCount = ((performance.now() - startMs) / 1_000) * REQUESTS_PER_SECOND;
    while (runningRequests.length < dueCount)
      runningRequests.push(measure(runningRequests.length % 2 ? read : write, durations));
    await delay(5);
  }
  await Promise.all(runningRequests);
  const [requests, health] = [summarize(durations), await stopWatching()];
  console.log({ steady: { requests, health } });
  expect(requests.maxMs).toBeLessThan(REQUEST_MS_MAX);
  expect(health.p99Ms).toBeLessThan(HEALTH_P99_MS_MAX);
}

/** Expects quick responses to health checks while writers send as many changes as the database stores. */
async function expectHealthUnderLoad({ url, write }: Fixture): Promise<void> {
  const stopWatching = watchHealth(url);
  const durations: number[] = [];
  const endMs = performance.now() + LOAD_MS;
  const keepWriting = async () => {
    while (performance.now() < endMs) await measure(write, durations);
  };
  await Promise.all(Array.from({ length: WRITER_COUNT }, keepWriting));
  const health = await stopWatching();
  console.log({ underLoad: { changes: summarize(durations), health } });
  expect(health.p99Ms).toBeLessThan(HEALTH_P99_MS_MAX);
}

/** Expects quick responses to health checks while a killed gateway starts again under load. */
async function expectHealthDuringStart({ env, gateway, url, write }: Fixture): Promise<void> {
  let isOver = false;
  const keepWriting = async () => {
    while (!isOver) await write().catch(() => delay(RETRY_MS));
  };
  const writing = Promise.all(Array.from({ length: WRITER_COUNT }, keepWriting));
  await gateway.kill();
  const restarting = startGateway(env);
  await waitUntilListening(url);
  const stopWatching = watchHealth(url, ['/livez']);
  await restarting;
  await delay(AFTER_START_MS);
  const health = await stopWatching();
  isOver = true;
  await writing;
  console.log({ duringStart: { health } });
  expect(health.maxMs).toBeLessThan(HEALTH_AT_START_MS_MAX);
}

test(`responds quickly at ${REQUESTS_PER_SECOND} requests per second, during ${WRITER_COUNT} writers and during a start`, async () => {
  const fixture = await startFixture();
  await expectSteadyResponses(fixture);
  await expectHealthUnderLoad(fixture);
  await expectHealthDuringStart(fixture);
});
