/**
 * A moved database continues at its new location: on PostgreSQL and back, or in another folder.
 *
 * @module-tag all/process
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { onPostgres } from '../support/app.ts';
import {
  createEmbeddedDatabase,
  createEmptyDatabase,
  createFolder,
  createPostgresDatabase,
  type DatabaseEnv,
  openAndReadRows,
  startGateway,
} from '../support/backup/copied-databases.ts';
import {
  connectGroup,
  createPendingDelivery,
  insertLostErasure,
  LIST_EVENTS,
  LIST_SEALED_VALUES,
  SEALED_TARGET,
} from '../support/backup/pending-delivery.ts';
import { createClient } from '../support/graphql-client.ts';
import { runCommand, runCommandInProcess } from '../support/process/run-command.ts';
import { type ReceivedMessage, startReceiver, verifyMessage } from '../support/receiver.ts';

/** The first retry starts soon, and the retries continue as long as a test takes. */
const FREQUENT_RETRIES = { DELIVERY_RETRY_SECONDS: Array(50).fill(1).join() };

/** Creates an empty database. Returns the target for the command, and the settings of a server on it. */
async function createTarget(from: DatabaseEnv): Promise<{ to: string; env: DatabaseEnv }> {
  if (!onPostgres) {
    const env = await createEmptyDatabase();
    return { to: env.DATA_DIR as string, env };
  }
  const to = await createPostgresDatabase();
  const key = readFileSync(join(from.DATA_DIR as string, 'encryption-keys'), 'utf8').trim();
  return { to, env: { ...from, DATABASE_URL: to, ENCRYPTION_KEY: key } };
}

/** The test opens a database several times. */
const TIMEOUT = { timeout: 240_000 };

test(
  'moves all rows, delivers pending messages, and accepts earlier cursors',
  TIMEOUT,
  async () => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver[Symbol.asyncDispose]());
    const source = createEmbeddedDatabase();
    const app = await startGateway(source, FREQUENT_RETRIES);
    const { tenant, signingSecret } = await createPendingDelivery(app, receiver);
    const { projectId, apiKey } = tenant;
    const { project } = await tenant.query(LIST_EVENTS, { project: projectId });
    const { cursor } = project.notificationEvents.edges.at(-1);

    // The target does not change how a running gateway provides its database.
    if (!onPostgres) await expectMoveOfRunning(source);
    await app[Symbol.asyncDispose]();

    const rowsBefore = await openAndReadRows(source, (database) =>
      insertLostErasure(database, projectId),
    );
    const { to, env } = await createTarget(source);
    const moveResult = await runCommand('move', ['--to', to], source);
    expect(moveResult).toMatchObject({ code: 0 });
    expect(moveResult.output).toMatch(/\d+ rows of \d+ tables .* counts and checksums agree/);
    expect(moveResult.output).not.toContain('A gateway runs');
    expect(await openAndReadRows(env)).toEqual(rowsBefore);
    expect(rowsBefore.Operation).toHaveLength(2);
    const repeatedMove = await runCommandInProcess('move', ['--to', to], source);
    expect(repeatedMove).toMatchObject({ code: 1 });
    expect(repeatedMove.output).toMatch(/is not empty \(.*\): name another one/);

    const sentCount = receiver.listMessages(projectId).length;
    receiver.setBehavior(projectId, { status: 200 });
    const gateway = await startGateway(env, FREQUENT_RETRIES);
    await receiver.waitForMessages(projectId, sentCount + 1);
    const messages = receiver.listMessages(projectId);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(1);
    expect(verifyMessage(messages.at(-1) as ReceivedMessage, signingSecret)).toBeTruthy();
    const client = createClient(gateway.fetch, { 'x-api-key': apiKey });
    const targets = (await client.query(LIST_SEALED_VALUES, { project: projectId })).project;
    expect(targets.destinations.nodes).toContainEqual({ name: 'sealed', ...SEALED_TARGET });
    await connectGroup({ ...tenant, ...client }, 'second');
    const laterEvents = await client.query(LIST_EVENTS, { project: projectId, after: cursor });
    expect(laterEvents.project.notificationEvents.edges).toHaveLength(1);
    const { prisma } = gateway.app.services.database;
    await expect.poll(() => prisma.erasure.count()).toBe(0);
    await gateway[Symbol.asyncDispose]();

    // The first move was from an embedded database already.
    if (!onPostgres) return;
    const secondTarget = createEmbeddedDatabase();
    const secondMove = await runCommandInProcess('move', ['--to', secondTarget.DATA_DIR], env);
    expect(secondMove).toMatchObject({ code: 0 });
    expect(await openAndReadRows(secondTarget)).toEqual(await openAndReadRows(env));
  },
);

async function expectMoveOfRunning(source: { DATA_DIR: string }): Promise<void> {
  const { DATA_DIR: to } = createEmbeddedDatabase();
  const { code, output } = await runCommandInProcess('move', ['--to', to], source);
  expect(code).toBe(0);
  expect(output).toContain('A gateway is running on the original: later changes');
  expect(readdirSync(source.DATA_DIR).filter((name) => name.startsWith('snapshot-'))).toEqual([]);
}

// The command refuses these before it opens a database.
test.skipIf(onPostgres)('refuses a move without a target, and to the source', async () => {
  const DATA_DIR = createFolder();
  expect(await runCommandInProcess('move', [], { DATA_DIR })).toMatchObject({ code: 2 });
  const sameFolder = await runCommandInProcess('move', ['--to', DATA_DIR], { DATA_DIR });
  expect(sameFolder.output).toContain('the database is already there');
  const emptyFolder = await runCommandInProcess('move', ['--to', createFolder()], { DATA_DIR });
  expect(emptyFolder).toMatchObject({ code: 1, output: `There is no database in ${DATA_DIR}.\n` });
});
