/**
 * PgBouncer in front of the database stops and restarts. The database and direct connections to it keep
 * working.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { findReasonWithoutPgbouncer, startPgbouncer } from '../../support/database/pgbouncer.ts';
import { startGateway } from '../fixtures/gateway.ts';
import { createOwnDatabase, startOwnServer } from '../fixtures/own-server.ts';

const WRITERS = 4;

test.skipIf(findReasonWithoutPgbouncer())(
  'responds with 503 without its pooler and recovers when the pooler is back',
  async () => {
    const server = await startOwnServer();
    onTestFinished(() => server.stop());
    const { direct, name, tenant } = await createOwnDatabase(server);
    const serverPort = Number(new URL(server.url).port);
    const first = await startPgbouncer(serverPort);
    const gateway = await startGateway({
      DATABASE_URL: `${first.url}/${name}`,
      DATABASE_LISTEN_URL: direct,
    });
    const codes = new Set<string>();
    let done = 0;
    let isOver = false;
    const write = async () => {
      while (!isOver) {
        const input = `{ projectIdOrName: "${tenant.projectId}", name: "topic-${crypto.randomUUID()}" }`;
        const response = await fetch(`${gateway.url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': tenant.apiKey },
          body: JSON.stringify({
            query: `mutation { createTopic(input: ${input}) { topic { id } } }`,
          }),
        });
        const { errors } = (await response.json()) as {
          errors?: { extensions: { code: string } }[];
        };
        codes.add(errors?.[0]?.extensions.code ?? 'OK');
        if (!errors) done += 1;
        await delay(5);
      }
    };
    const writing = Promise.all(Array.from({ length: WRITERS }, write));
    const goesOn = async () => {
      const before = done + WRITERS;
      await expect.poll(() => done, { timeout: 30_000 }).toBeGreaterThan(before);
    };
    await goesOn();
    await first.stop();
    await expect.poll(() => [...codes].toSorted()).toEqual(['OK', 'SERVICE_UNAVAILABLE']);
    const second = await startPgbouncer(serverPort, { port: first.port });
    onTestFinished(() => second.stop());
    await goesOn();
    isOver = true;
    await writing;
    expect([...codes].toSorted()).toEqual(['OK', 'SERVICE_UNAVAILABLE']);
    expect(await gateway.stop()).toBe(0);
  },
);
