/** The embedded database runs in a thread, which accepts connections. */
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { startEngine } from '../../../../src/database/connect/embedded/engine.ts';
import { type OpenEngine, openEngine } from '../../../../src/database/open/open-embedded.ts';
import { createLog } from '../../../../src/kernel/log.ts';
import { onPostgres } from '../../../support/app.ts';
import { fillDataFolder } from '../../../support/database/data-folder.ts';
import { acquireEngine } from '../../../support/database/embedded/embedded-databases.ts';
import { startMemoryEngine } from '../../../support/database/embedded/memory-engine.ts';
import { queryRows } from '../../../support/database/query.ts';

async function connect({ address }: OpenEngine) {
  const client = new pg.Client({ ...address, pipeline: true });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Skips a test in runs on PostgreSQL, where its result would be the same. */
const onEmbedded = test.skipIf(onPostgres);

const cutConnection = (client: pg.Client) =>
  (client as unknown as { connection: pg.Connection }).connection.stream.destroy();

onEmbedded('does not block the calling thread while a statement runs', async () => {
  await using engine = await acquireEngine();
  const client = await connect(engine);
  let eventLoopTurns = 0;
  let isRunning = true;
  const statement = client.query('select pg_sleep(0.2)').finally(() => {
    isRunning = false;
  });
  while (isRunning) {
    await new Promise(setImmediate);
    eventLoopTurns += 1;
  }
  await statement;
  expect(eventLoopTurns).toBeGreaterThan(100);
  await client.end();
});

onEmbedded(
  'starts a connection without the transaction, settings and statements of the previous one',
  async () => {
    await using engine = await acquireEngine();
    const firstClient = await connect(engine);
    await firstClient.query('begin');
    await firstClient.query(`insert into "ServerProcess" ("id") values ('first')`);
    await firstClient.query("set application_name = 'first'");
    await firstClient.query({ name: 'kept', text: 'select 1' });
    const nextConnection = connect(engine);
    cutConnection(firstClient);
    const secondClient = await nextConnection;
    expect((await secondClient.query('select * from "ServerProcess"')).rows).toEqual([]);
    expect((await secondClient.query('show application_name')).rows[0].application_name).not.toBe(
      'first',
    );
    expect((await secondClient.query('select name from pg_prepared_statements')).rows).toEqual([]);
    await secondClient.end();
  },
);

onEmbedded('returns a separate result for each pipelined statement', async () => {
  await using engine = await acquireEngine();
  const client = await connect(engine);
  const stream = (client as unknown as { connection: pg.Connection }).connection.stream;
  stream.cork();
  const queries = ['select 1 as n', 'select 1/0', 'select 2 as n'].map((text) =>
    client.query(text),
  );
  stream.uncork();
  const responses = await Promise.allSettled(queries);
  expect(
    responses.map((result) =>
      result.status === 'fulfilled' ? result.value.rows[0].n : result.reason.code,
    ),
  ).toEqual([1, '22012', 2]);
  const { rows } = await client.query(`select repeat('x', 3000000) as long`);
  expect(rows[0].long).toHaveLength(3_000_000);
  await client.end();
});

onEmbedded('delivers notifications to the connection that replaces a lost one', async () => {
  const engine = await acquireEngine();
  const streams: { destroy(): void }[] = [];
  const { stream } = engine.address as { stream: () => { destroy(): void } };
  const address = {
    ...engine.address,
    stream: () => {
      const connectionStream = stream();
      streams.push(connectionStream);
      return connectionStream;
    },
  } as OpenEngine['address'];
  await using database = await openEngine(
    { address, [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose]() },
    createLog('silent'),
  );
  const receivedPayloads: (string | undefined)[] = [];
  await using _listening = database.listen('letters', (payload) => receivedPayloads.push(payload));
  await expect.poll(() => receivedPayloads).toEqual([undefined]);
  await queryRows(database, `select pg_notify('letters', 'a')`, []);
  await expect.poll(() => receivedPayloads).toEqual([undefined, 'a']);
  streams.at(-1)?.destroy();
  // The next statement of any caller opens the next connection. A statement fails until the loss is noticed.
  const listPayloads = async () => {
    await queryRows(database, 'select 1', []).catch(() => {});
    return receivedPayloads;
  };
  await expect.poll(listPayloads).toEqual([undefined, 'a', undefined]);
  await queryRows(database, `select pg_notify('letters', 'b')`, []);
  await expect.poll(() => receivedPayloads).toEqual([undefined, 'a', undefined, 'b']);
});

onEmbedded(
  'ends its connections and reports the error when the thread crashes during a statement',
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'gateway-engine-'));
    fillDataFolder(dataDir);
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const crashed = Promise.withResolvers<Error>();
    const engine = await startEngine(dataDir, crashed.resolve);
    const client = await connect(engine);
    await client.query('create table t (n int)');
    await client.query('insert into t values (1)');
    const endPromise = new Promise((resolve) => client.once('end', resolve));
    const walFolder = join(dataDir, 'database', 'pg_wal');
    renameSync(walFolder, `${walFolder}.away`);
    await client.query('select pg_switch_wal()');
    await expect(client.query('insert into t values (2)')).rejects.toThrow('pg_wal');
    await endPromise;
    expect((await crashed.promise).message).toMatch(/^PostgreSQL ended: .*pg_wal/);
    await expect(connect(engine)).rejects.toThrow('PostgreSQL ended');
    await engine[Symbol.asyncDispose]();

    renameSync(`${walFolder}.away`, walFolder);
    await using restarted = await startEngine(dataDir, crashed.reject);
    const nextClient = await connect(restarted);
    expect((await nextClient.query('select n from t')).rows).toEqual([{ n: 1 }]);
    await nextClient.end();
  },
);

onEmbedded('closes the engine while a long statement runs', { tags: ['all/process'] }, async () => {
  // The statement keeps a core busy until the engine is closed.
  const engine = await startMemoryEngine({ closeTimeoutMs: 200 });
  const client = await connect(engine);
  const statement = client.query('select pg_sleep(60)');
  const rejection = expect(statement).rejects.toThrow();
  await engine[Symbol.asyncDispose]();
  await rejection;
});
