/**
 * Prints a project's events, or the messages of a stream, as they arrive, one JSON object per line: `npm run listen --
 * [--topic NAME | --stream DESTINATION] [--project demo] [--url http://127.0.0.1:4000] [--key ik_...]`. It continues
 * after the last printed object when the connection drops, and with --cursor-file also when the command restarts.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { writeFileAtomically } from '../kernel/atomic-file.ts';
import { readConfig } from '../settings/config.ts';
import { computeBackoffMs } from '../work/backoff.ts';
import { CommandError, parseOptions, printError } from './run-command.ts';
import { answerHelp } from './usage.ts';

const USAGE =
  'Usage: npm run listen -- [--topic NAME | --stream DESTINATION] [--project demo] ' +
  '[--url http://127.0.0.1:4000] [--key ik_...] [--cursor-file PATH]';
const RETRY = { firstMs: 250, maxMs: 10_000, jitter: 0.2 };
/** Close codes after which a retry can't help. */
const FINAL_CODES = [4401, 4403];

const createNameQuery = (
  list: 'topics' | 'destinations',
) => `query FindName($project: String!, $after: String) {
  project(idOrName: $project) {
    list: ${list}(first: 1000, after: $after) { nodes { id name } pageInfo { hasNextPage endCursor } }
  }
}`;
const FIND_LAST_EVENT = `query FindLastEvent($project: String!) {
  project(idOrName: $project) { last: notificationEvents(last: 1) { pageInfo { endCursor } } }
}`;
const FIND_LAST_MESSAGE = `query FindLastMessage($destinationId: ID!) {
  project: node(id: $destinationId) {
    ... on Destination { last: messages(last: 1) { pageInfo { endCursor } } }
  }
}`;
const FOLLOW_EVENTS = `subscription FollowEvents($project: String!, $topicId: ID, $after: String) {
  edge: notificationEvents(projectIdOrName: $project, topicId: $topicId, after: $after) {
    cursor node { id eventType createTime data }
  }
}`;
const FOLLOW_MESSAGES = `subscription FollowMessages($destinationId: ID!, $after: String) {
  edge: streamMessages(destinationId: $destinationId, after: $after) {
    cursor node { id createTime body }
  }
}`;

const demoFile = z.object({ url: z.string(), apiKey: z.string() });

function readOptions(args: string[]) {
  const text = { type: 'string' } as const;
  const options = {
    topic: text,
    stream: text,
    project: text,
    url: text,
    key: text,
    'cursor-file': text,
  };
  const values = parseOptions(USAGE, () => parseArgs({ args, options }).values);
  const path = join(readConfig(process.env).DATA_DIR, 'demo.json');
  const demo = existsSync(path) ? demoFile.parse(JSON.parse(readFileSync(path, 'utf8'))) : null;
  const url = values.url ?? demo?.url ?? 'http://127.0.0.1:4000';
  const key = values.key ?? demo?.apiKey;
  if (!URL.canParse(url)) throw new CommandError(`--url: must be a URL\n${USAGE}`);
  if (!key) throw new CommandError(`--key: required, because there is no ${path}\n${USAGE}`);
  const { topic, stream, project = 'demo', 'cursor-file': cursorFile } = values;
  if (topic !== undefined && stream !== undefined) {
    throw new CommandError(`--stream: streams have no topics, omit --topic\n${USAGE}`);
  }
  return { url, key, topic, stream, project, cursorFile };
}

async function runQuery<T>(client: Client, query: string, variables: object): Promise<T> {
  for await (const { data, errors } of client.iterate<T>({ query, variables: { ...variables } })) {
    if (errors) throw errors;
    if (data) return data;
  }
  throw new Error('The gateway did not respond. Check --url, and that the gateway runs.');
}

interface NamedPage {
  project: {
    list: {
      nodes: { id: string; name: string }[];
      pageInfo: { hasNextPage: boolean; endCursor: string | null };
    };
  } | null;
}

/** Returns the id of the resource with that name in a project. */
async function getId(
  client: Client,
  { noun, query, project }: { noun: string; query: string; project: string },
  name: string,
): Promise<string> {
  let after: string | null = null;
  for (;;) {
    const page: NamedPage = await runQuery(client, query, { project, after });
    const list = page.project?.list;
    const id = list?.nodes.find((node) => node.name === name || node.id === name)?.id;
    if (id) return id;
    if (!list?.pageInfo.hasNextPage) {
      throw new CommandError(`There is no ${noun} ${name} in the project ${project}.`);
    }
    after = list.pageInfo.endCursor;
  }
}

/** The source of the items: a subscription that returns an `edge`, and a query for the `last` page of the same list. */
interface MessageSource {
  subscription: string;
  lastQuery: string;
  variables: Record<string, string>;
}

async function getMessageSource(
  client: Client,
  { topic, stream, project }: ReturnType<typeof readOptions>,
): Promise<MessageSource> {
  if (stream !== undefined) {
    const lookup = { noun: 'destination', query: createNameQuery('destinations'), project };
    const destinationId = await getId(client, lookup, stream);
    return {
      subscription: FOLLOW_MESSAGES,
      lastQuery: FIND_LAST_MESSAGE,
      variables: { destinationId },
    };
  }
  const projectSource = { subscription: FOLLOW_EVENTS, lastQuery: FIND_LAST_EVENT };
  if (topic === undefined) return { ...projectSource, variables: { project } };
  const topicId = await getId(
    client,
    { noun: 'topic', query: createNameQuery('topics'), project },
    topic,
  );
  return { ...projectSource, variables: { project, topicId } };
}

/** Returns the cursor to start after, from the file or from the newest item. Null if there are no items. */
async function findStart(
  client: Client,
  { lastQuery, variables }: MessageSource,
  cursorFile?: string,
) {
  if (cursorFile && existsSync(cursorFile)) return readFileSync(cursorFile, 'utf8').trim() || null;
  type LastResponse = { project: { last: { pageInfo: { endCursor: string | null } } } | null };
  const response: LastResponse = await runQuery(client, lastQuery, variables);
  return response.project?.last.pageInfo.endCursor ?? null;
}

interface EdgeData {
  edge: { cursor: string; node: object };
}

async function* iterateEdges(
  client: Client,
  { subscription, variables }: MessageSource,
  after: string | null,
) {
  const operation = { query: subscription, variables: { ...variables, after } };
  for await (const { data, errors } of client.iterate<EdgeData>(operation)) {
    if (errors) throw errors;
    if (data) yield data.edge;
  }
}

async function listen(args: string[]): Promise<void> {
  const options = readOptions(args);
  const { url, key, cursorFile } = options;
  const client = createClient({
    url: new URL('/graphql', url.replace(/^http/, 'ws')).href,
    webSocketImpl: WebSocket,
    connectionParams: { 'x-api-key': key },
    retryAttempts: 0,
  });
  let source: MessageSource | undefined;
  let after: string | null | undefined;
  for (let failures = 0; ; failures += 1) {
    try {
      source ??= await getMessageSource(client, options);
      if (after === undefined) {
        after = await findStart(client, source, cursorFile);
        console.error(`Listening to ${url}`);
      }
      for await (const { cursor, node } of iterateEdges(client, source, after)) {
        console.log(JSON.stringify({ cursor, ...node }));
        if (cursorFile) writeFileAtomically(cursorFile, cursor);
        after = cursor;
        failures = 0;
      }
    } catch (error) {
      throwIfFinal(error);
    }
    await sleep(computeBackoffMs(RETRY, failures + 1));
  }
}

/** Throws an error that a retry can't resolve, such as a refused subscription. */
function throwIfFinal(error: unknown): void {
  if (error instanceof CommandError) throw error;
  const { code, reason } = error as { code?: number; reason?: string };
  if (code !== undefined && FINAL_CODES.includes(code))
    throw new CommandError(reason ?? String(code));
  const errors = Array.isArray(error)
    ? (error as { message: string; extensions?: { code?: string } }[])
    : [];
  const temporaryCodes = ['RATE_LIMITED', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'];
  const finalError = errors.find(
    ({ extensions }) => !temporaryCodes.includes(extensions?.code ?? ''),
  );
  if (finalError) throw new CommandError(finalError.message);
}

answerHelp(USAGE);
try {
  await listen(process.argv.slice(2));
} catch (error) {
  printError(error);
  process.exit(1);
}
