/** A standby is read for callers who accept some age; it lags, and goes away. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Gateway, startGateway } from '../scenes/gateway.ts';
import { type ReplicatedServers, startReplicatedServers } from './replicated-servers.ts';

const ANY_AGE = 'max-age=60';
const LAG_MS = 150;
const ROUNDS = 60;

test('who accepts an age reads the standby, and sees all that it has written itself', async () => {
  const servers = await startReplicatedServers({ isSynchronous: false });
  const as = callersOf(servers);
  const [one, other] = await startTwo(servers);
  const { apiKey: writer } = servers.tenant;
  const reader = await as(one, writer).newKey();
  await expect.poll(() => as(one, reader).topics(ANY_AGE)).toMatchObject(FROM_STANDBY);
  // Who says nothing, or wants what is new, reads the primary.
  for (const said of [undefined, 'max-age=0', `no-cache, ${ANY_AGE}`, 'max-stale=60']) {
    expect(await as(one, reader).topics(said)).toMatchObject(FROM_PRIMARY);
  }

  await servers.query('select pg_wal_replay_pause()');
  await as(one, writer).createTopic('late');
  const [asBefore, asNow] = [
    { ...FROM_STANDBY, names: [] },
    { ...FROM_PRIMARY, names: ['late'] },
  ];
  expect(await as(one, reader).topics(ANY_AGE)).toEqual(asBefore);
  expect(await as(one, reader).topicsByRest(ANY_AGE)).toEqual(asBefore);
  for (const gateway of [one, other]) {
    expect(await as(gateway, reader).topics()).toEqual(asNow);
    // The other process has been told of the change.
    expect(await as(gateway, writer).topics(ANY_AGE)).toEqual(asNow);
    expect(await as(gateway, writer).topicsByRest(ANY_AGE)).toEqual(asNow);
  }

  // What it has grows older than the reader accepts.
  await expect.poll(() => as(one, reader).topics('max-age=2')).toEqual(asNow);
  expect(await as(one, reader).topics(ANY_AGE)).toEqual(asBefore);

  await servers.query('select pg_wal_replay_resume()');
  const caughtUp = { ...FROM_STANDBY, names: ['late'] };
  await expect.poll(() => as(other, writer).topics('max-age=2')).toEqual(caughtUp);
  expect([await one.stop(), await other.stop()]).toEqual([0, 0]);
});

test('a caller reads through another process what it has just written, however late the standby is', async () => {
  const settings = [`recovery_min_apply_delay=${LAG_MS}ms`];
  const servers = await startReplicatedServers({ isSynchronous: false, settings });
  const as = callersOf(servers);
  const [one, other] = await startTwo(servers);
  const key = servers.tenant.apiKey;
  const places = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const [writes, reads] = round % 2 ? [one, other] : [other, one];
    await as(writes, key).createTopic(`topic-${round}`);
    const read = await as(reads, key).topics(ANY_AGE);
    expect(read).toMatchObject({ code: 'OK', names: expect.arrayContaining([`topic-${round}`]) });
    places.add(read.from);
    // From time to time the standby catches up.
    if (round % 20 === 19) {
      await expect.poll(() => as(one, key).topics(ANY_AGE)).toMatchObject(FROM_STANDBY);
    }
  }
  expect(places).toContain('primary');
});

test('while the standby is away the primary is read, without an error', async () => {
  const servers = await startReplicatedServers({ isSynchronous: false });
  const as = callersOf(servers);
  const [gateway] = await startTwo(servers);
  const key = await as(gateway, servers.tenant.apiKey).newKey();
  const read = () => as(gateway, key).topics(ANY_AGE);
  await expect.poll(read).toMatchObject(FROM_STANDBY);
  let isOver = false;
  const codes = new Set<string>();
  const keepReading = async () => {
    while (!isOver) {
      codes.add((await read()).code);
      await delay(1);
    }
  };
  const reading = Promise.all(Array.from({ length: 4 }, keepReading));
  await servers.killSecond();
  await expect.poll(read).toMatchObject(FROM_PRIMARY);
  await servers.startSecond();
  await expect.poll(read, { timeout: 60_000 }).toMatchObject(FROM_STANDBY);
  isOver = true;
  await reading;
  expect([...codes]).toEqual(['OK']);
  const said = gateway.lines.map(({ msg }) => msg);
  expect(said).toContain('replica.failed');
  expect(said).not.toContain('database.failed');
});

test('a server that is no standby of the database is not read', async () => {
  const servers = await startReplicatedServers({ isSynchronous: false });
  const gateway = await startGateway({
    DATABASE_URL: servers.firstUrl,
    DATABASE_REPLICA_URL: servers.secondUrl.replace(/[^/]+$/, 'postgres'),
    DATABASE_REPLICA_MAX_AGE_MS: '60000',
  });
  const read = await callersOf(servers)(gateway, servers.tenant.apiKey).topics();
  expect(read).toMatchObject(FROM_PRIMARY);
  const failed = gateway.lines.find(({ msg }) => msg === 'replica.failed');
  expect(JSON.stringify(failed)).toContain('leads to another database');
});

const FROM_STANDBY = { code: 'OK', from: 'standby' };
const FROM_PRIMARY = { code: 'OK', from: 'primary' };

/** Two processes of one gateway. */
async function startTwo({ firstUrl, secondUrl }: ReplicatedServers): Promise<[Gateway, Gateway]> {
  const env = { DATABASE_URL: firstUrl, DATABASE_REPLICA_URL: secondUrl };
  return [await startGateway(env), await startGateway(env)];
}

/** What a key asks of a gateway. */
function callersOf({ tenant: { projectName: project } }: ReplicatedServers) {
  return ({ url }: Gateway, key: string) => {
    const ask = async (query: string, age?: string) => {
      const headers = { 'content-type': 'application/json', ...headersOf(key, age) };
      const body = JSON.stringify({ query });
      const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
      const { data, errors } = await answer.json();
      return { data, code: errors?.[0].extensions.code ?? 'OK', from: placeOf(answer) };
    };
    const change = async (mutation: string, input: string) => {
      const { data, code } = await ask(
        `mutation { ${mutation.replace('$input', `{ projectIdOrName: "${project}", ${input} }`)} }`,
      );
      expect(code).toBe('OK');
      return data;
    };
    return {
      createTopic: (name: string) =>
        change('createTopic(input: $input) { topic { id } }', `name: "${name}"`),
      async newKey(): Promise<string> {
        const input = 'label: "reader", scopes: ["read"]';
        return (await change('createApiKey(input: $input) { key }', input)).createApiKey.key;
      },
      async topics(age?: string) {
        const query = `{ project(idOrName: "${project}") { topics(first: 50) { nodes { name } } } }`;
        const { data, ...told } = await ask(query, age);
        return { ...told, names: namesOf(data?.project.topics.nodes ?? []) };
      },
      async topicsByRest(age?: string) {
        const path = `/v1/projects/${project}/topics`;
        const answer = await fetch(`${url}${path}`, { headers: headersOf(key, age) });
        const names = namesOf(await answer.json());
        return { code: 'OK', from: placeOf(answer), names };
      },
    };
  };
}

function headersOf(key: string, age: string | undefined) {
  return { 'x-api-key': key, ...(age && { 'cache-control': age }) };
}

function namesOf(topics: { name: string }[]): string[] {
  return topics.map(({ name }) => name);
}

/** Only an answer from the standby has an age. */
function placeOf({ headers }: Response): string {
  return headers.has('age') ? 'standby' : 'primary';
}
