/** A well-behaved client: measures its requests while others attack. */
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { onTestFinished } from 'vitest';

const PER_SECOND = 50;
const TICK_MS = 5;
/** A longer response time counts as a failure. */
const ANSWER_MS_MAX = 60_000;
const QUERY = '{ viewer { project { id name } } }';

export interface Fared {
  requests: number;
  /** Number of requests without data, by status and body, or by error. */
  failures: Record<string, number>;
  medianMs: number;
  p99Ms: number;
  maxMs: number;
  /** The p99 of requests over a new connection. */
  p99OfNewConnectionsMs: number;
}

interface Outcome {
  ms: number;
  isNew: boolean;
  failure: string | null;
}

/**
 * Sends requests at a fixed rate, without waiting for earlier responses. Every second request uses a new
 * connection. Times start when a request is due.
 */
export async function fareFor(ms: number, url: string, apiKey: string): Promise<Fared> {
  const agent = new Agent({ connections: 100, pipelining: 1, connectTimeout: ANSWER_MS_MAX });
  onTestFinished(() => agent.destroy());
  const running: Promise<Outcome>[] = [];
  const start = performance.now();
  for (let now = start; now < start + ms; now = performance.now()) {
    const due = ((now - start) / 1000) * PER_SECOND;
    while (running.length < due) {
      const dueAt = start + (running.length * 1000) / PER_SECOND;
      const isNew = running.length % 2 === 1;
      running.push(sendOne({ agent, url, apiKey, dueAt, isNew }));
    }
    await delay(TICK_MS);
  }
  return summary(await Promise.all(running));
}

interface Call {
  agent: Agent;
  url: string;
  apiKey: string;
  dueAt: number;
  isNew: boolean;
}

async function sendOne({ agent, url, apiKey, dueAt, isNew }: Call): Promise<Outcome> {
  const dispatcher = isNew ? new Agent({ connectTimeout: ANSWER_MS_MAX }) : agent;
  let failure: string | null = null;
  try {
    const response = await request(`${url}/graphql`, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      body: JSON.stringify({ query: QUERY }),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    const text = await response.body.text();
    if (response.statusCode !== 200 || !text.startsWith('{"data":{"viewer":{"project":{"id"'))
      failure = `${response.statusCode} ${text.slice(0, 200)}`;
  } catch (error) {
    failure = String(error);
  }
  const ms = performance.now() - dueAt;
  if (isNew) dispatcher.destroy();
  return { ms, isNew, failure };
}

function summary(outcomes: Outcome[]): Fared {
  const failures: Record<string, number> = {};
  for (const { failure } of outcomes) {
    if (failure !== null) failures[failure] = (failures[failure] ?? 0) + 1;
  }
  const all = outcomes.map(({ ms }) => ms);
  return {
    requests: outcomes.length,
    failures,
    medianMs: percentile(all, 0.5),
    p99Ms: percentile(all, 0.99),
    maxMs: percentile(all, 1),
    p99OfNewConnectionsMs: percentile(
      outcomes.filter(({ isNew }) => isNew).map(({ ms }) => ms),
      0.99,
    ),
  };
}

function percentile(times: number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  const at = Math.min(sorted.length - 1, Math.floor(sorted.length * share));
  return Math.round((sorted[at] ?? 0) * 10) / 10;
}
