/** PgBouncer restarts, while the database behind it keeps running. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { getPgbouncerSkipReason, startPgbouncer } from '../../support/database/pgbouncer.ts';
import { CREATE_TOPIC } from '../../support/fixtures/webhooks.ts';
import { createClient, fetchFrom } from '../../support/graphql-client.ts';
import { createDedicatedDatabase, startDedicatedServer } from '../fixtures/dedicated-server.ts';
import { startGateway } from '../fixtures/gateway.ts';

const WRITER_COUNT = 4;

test.skipIf(getPgbouncerSkipReason())(
  'responds with 503 while the pooler is down, and recovers when it restarts',
  async () => {
    const server = await startDedicatedServer();
    onTestFinished(() => server.stop());
    const { directUrl, name, tenant } = await createDedicatedDatabase(server);
    const serverPort = Number(new URL(server.url).port);
    const firstPooler = await startPgbouncer(serverPort);
    const gateway = await startGateway({
      DATABASE_URL: `${firstPooler.url}/${name}`,
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
    const pendingWrites = Promise.all(Array.from({ length: WRITER_COUNT }, keepWriting));
    const waitForWrites = async () => {
      const countBefore = writes + WRITER_COUNT;
      await expect.poll(() => writes, { timeout: 30_000 }).toBeGreaterThan(countBefore);
    };
    await waitForWrites();
    await firstPooler.stop();
    await expect.poll(() => [...codes].toSorted()).toEqual(['OK', 'SERVICE_UNAVAILABLE']);
    const secondPooler = await startPgbouncer(serverPort, { port: firstPooler.port });
    onTestFinished(() => secondPooler.stop());
    await waitForWrites();
    isOver = true;
    await pendingWrites;
    expect([...codes].toSorted()).toEqual(['OK', 'SERVICE_UNAVAILABLE']);
    expect(await gateway.stop()).toBe(0);
  },
);
