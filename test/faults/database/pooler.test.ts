/** PgBouncer restarts. The database behind it, and direct connections to the database, keep working. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { getPgbouncerSkipReason, startPgbouncer } from '../../support/database/pgbouncer.ts';
import { createClient, fetchFrom } from '../../support/graphql-client.ts';
import { createDedicatedDatabase, startDedicatedServer } from '../fixtures/dedicated-server.ts';
import { startGateway } from '../fixtures/gateway.ts';

const WRITERS = 4;
const CREATE_TOPIC = `mutation CreateTopic($input: CreateTopicInput!) {
  createTopic(input: $input) { topic { id } }
}`;

test.skipIf(getPgbouncerSkipReason())(
  'responds with 503 without its pooler and recovers when the pooler is back',
  async () => {
    const server = await startDedicatedServer();
    onTestFinished(() => server.stop());
    const { directUrl, name, tenant } = await createDedicatedDatabase(server);
    const serverPort = Number(new URL(server.url).port);
    const first = await startPgbouncer(serverPort);
    const gateway = await startGateway({
      DATABASE_URL: `${first.url}/${name}`,
      DATABASE_LISTEN_URL: directUrl,
    });
    const codes = new Set<string>();
    const client = createClient(fetchFrom(gateway.url), { 'x-api-key': tenant.apiKey });
    let writes = 0;
    let isOver = false;
    const keepWriting = async () => {
      while (!isOver) {
        const name = `topic-${crypto.randomUUID()}`;
        const input = { projectIdOrName: tenant.projectId, name };
        const { errors } = await client.request(CREATE_TOPIC, { input });
        codes.add(errors?.[0]?.extensions.code ?? 'OK');
        if (!errors) writes += 1;
        await delay(5);
      }
    };
    const writing = Promise.all(Array.from({ length: WRITERS }, keepWriting));
    const waitForWrites = async () => {
      const before = writes + WRITERS;
      await expect.poll(() => writes, { timeout: 30_000 }).toBeGreaterThan(before);
    };
    await waitForWrites();
    await first.stop();
    await expect.poll(() => [...codes].toSorted()).toEqual(['OK', 'SERVICE_UNAVAILABLE']);
    const second = await startPgbouncer(serverPort, { port: first.port });
    onTestFinished(() => second.stop());
    await waitForWrites();
    isOver = true;
    await writing;
    expect([...codes].toSorted()).toEqual(['OK', 'SERVICE_UNAVAILABLE']);
    expect(await gateway.stop()).toBe(0);
  },
);
