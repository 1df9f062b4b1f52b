/**
 * Prints a project's events as they happen, one JSON object a line:
 * `npm run listen -- [--topic NAME] [--project demo] [--url http://127.0.0.1:4000] [--key ik_...]`.
 * If the connection drops, it continues after the last event; with --cursor-file also after a restart.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { readConfig } from '../config.ts';
import { writeWhole } from '../domain/files.ts';
import { StartRefused } from '../errors.ts';
import { backoffMs } from '../work/backoff.ts';

const USAGE =
  'Usage: npm run listen -- [--topic NAME] [--project demo] [--url http://127.0.0.1:4000] ' +
  '[--key ik_...] [--cursor-file PATH]';
const RETRY = { firstMs: 250, maxMs: 10_000, jitter: 0.2 };
/** Close codes after which a retry can't help. */
const FINAL_CODES = [4401, 4403];

/** An error for the person at the terminal: printed without a stack. */
class Refusal extends Error {}

const FIND_TOPIC = `query ($project: String!, $after: String) {
  project(idOrName: $project) {
    topics(first: 1000, after: $after) { nodes { id name } pageInfo { hasNextPage endCursor } }
  }
}`;
const FIND_END = `query ($project: String!) {
  project(idOrName: $project) { notificationEvents(last: 1) { pageInfo { endCursor } } }
}`;
const FOLLOW = `subscription ($project: String!, $topicId: ID, $after: String) {
  notificationEvents(projectIdOrName: $project, topicId: $topicId, after: $after) {
    cursor node { id eventType createTime data }
  }
}`;

const demoFile = z.object({ url: z.string(), apiKey: z.string() });

function readOptions(args: string[]) {
  const text = { type: 'string' } as const;
  const options = { topic: text, project: text, url: text, key: text, 'cursor-file': text };
  const given = parseOptions(() => parseArgs({ args, options }).values);
  const path = join(readConfig(process.env).DATA_DIR, 'demo.json');
  const demo = existsSync(path) ? demoFile.parse(JSON.parse(readFileSync(path, 'utf8'))) : null;
  const url = given.url ?? demo?.url ?? 'http://127.0.0.1:4000';
  const key = given.key ?? demo?.apiKey;
  if (!URL.canParse(url)) throw new Refusal(`--url: must be a URL\n${USAGE}`);
  if (!key) throw new Refusal(`--key: is needed, as there is no ${path}\n${USAGE}`);
  const { topic, project = 'demo', 'cursor-file': cursorFile } = given;
  return { url, key, topic, project, cursorFile };
}

function parseOptions<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Refusal(`${(error as Error).message}\n${USAGE}`);
  }
}

async function ask<T>(client: Client, query: string, variables: object): Promise<T> {
  for await (const { data, errors } of client.iterate<T>({ query, variables: { ...variables } })) {
    if (errors) throw errors;
    if (data) return data;
  }
  throw new Error('The gateway did not answer. Is --url right, and does it run?');
}

interface Topics {
  project: {
    topics: {
      nodes: { id: string; name: string }[];
      pageInfo: { hasNextPage: boolean; endCursor: string | null };
    };
  } | null;
}

async function getTopicId(client: Client, project: string, topic: string): Promise<string> {
  for (let after: string | null = null; ; ) {
    const found: Topics = await ask(client, FIND_TOPIC, { project, after });
    const topics = found.project?.topics;
    const id = topics?.nodes.find(({ name }) => name === topic)?.id;
    if (id) return id;
    if (!topics?.pageInfo.hasNextPage) {
      throw new Refusal(`There is no topic ${topic} in the project ${project}.`);
    }
    after = topics.pageInfo.endCursor;
  }
}

/** The cursor to begin after: the file's, else that of the newest event, so that a drop loses nothing. */
async function findStart(client: Client, project: string, cursorFile?: string) {
  if (cursorFile && existsSync(cursorFile)) return readFileSync(cursorFile, 'utf8').trim() || null;
  type End = { project: { notificationEvents: { pageInfo: { endCursor: string | null } } } | null };
  const found: End = await ask(client, FIND_END, { project });
  return found.project?.notificationEvents.pageInfo.endCursor ?? null;
}

interface Edge {
  notificationEvents: { cursor: string; node: object };
}

async function* edges(client: Client, variables: Record<string, unknown>) {
  for await (const { data, errors } of client.iterate<Edge>({ query: FOLLOW, variables })) {
    if (errors) throw errors;
    if (data) yield data.notificationEvents;
  }
}

async function listen(args: string[]): Promise<void> {
  const { url, key, topic, project, cursorFile } = readOptions(args);
  const client = createClient({
    url: new URL('/graphql', url.replace(/^http/, 'ws')).href,
    webSocketImpl: WebSocket,
    connectionParams: { 'x-api-key': key },
    retryAttempts: 0,
  });
  let topicId: string | undefined;
  let after: string | null | undefined;
  for (let failures = 0; ; failures += 1) {
    try {
      if (topic) topicId ??= await getTopicId(client, project, topic);
      if (after === undefined) {
        after = await findStart(client, project, cursorFile);
        console.error(`Listening to ${url}`);
      }
      for await (const { cursor, node } of edges(client, { project, topicId, after })) {
        console.log(JSON.stringify({ cursor, ...node }));
        if (cursorFile) writeWhole(cursorFile, cursor);
        after = cursor;
        failures = 0;
      }
    } catch (error) {
      refuseWhereFinal(error);
    }
    await sleep(backoffMs(RETRY, failures + 1));
  }
}

/** Whether the gateway refused the subscription: then a retry can't help, unlike after a dropped connection. */
function refuseWhereFinal(error: unknown): void {
  if (error instanceof Refusal) throw error;
  const { code, reason } = error as { code?: number; reason?: string };
  if (code !== undefined && FINAL_CODES.includes(code)) throw new Refusal(reason ?? String(code));
  const refused = Array.isArray(error)
    ? (error as { message: string; extensions?: { code?: string } }[])
    : [];
  const passing = ['RATE_LIMITED', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'];
  const final = refused.find(({ extensions }) => !passing.includes(extensions?.code ?? ''));
  if (final) throw new Refusal(final.message);
}

try {
  await listen(process.argv.slice(2));
} catch (error) {
  const isForPeople = error instanceof Refusal || error instanceof StartRefused;
  console.error(isForPeople ? error.message : error);
  process.exit(1);
}
