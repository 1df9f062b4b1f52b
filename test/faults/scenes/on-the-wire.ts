/** Prepares work in progress on a server: messages whose receiver hangs, and a write without a response. */
import { expect, onTestFinished } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import { createDeliveryProject } from '../../support/fixtures/deliveries.ts';
import { startReceiver } from '../../support/receiver.ts';
import { WRITE } from './killed-writers.ts';
import { type Scene, startServer } from './write-scene.ts';

const MINUTE_MS = 60_000;
export const PLACE = 'hook';
/** Maximum number of concurrent deliveries to one destination. */
export const ON_THE_WIRE = 8;
export const MESSAGES = 20;

export async function receiverFor(database: Database) {
  const receiver = await startReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const { destination, enqueue } = await createDeliveryProject(database);
  const { id } = await destination(receiver.url(PLACE));
  receiver.setBehaviour(PLACE, 'HANG');
  return { receiver, owed: await enqueue(id, MESSAGES) };
}

export function countDeliveries(received: readonly { id: string }[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const { id } of received) times.set(id, (times.get(id) ?? 0) + 1);
  return times;
}

/** Starts a server whose write the sandbox has executed without a response. */
export async function writeOnTheWire(scene: Scene & { database: Database }) {
  scene.sandbox.faults.set({ delayMs: MINUTE_MS, times: 1, method: 'POST' });
  const first = await startServer(scene);
  const { writeRecords } = await first.client.query(WRITE, scene.input('deal'));
  const { prisma } = scene.database;
  const isHeld = async () => (await prisma.writeTask.findFirst())?.leaseToken !== null;
  await expect.poll(isHeld, { timeout: MINUTE_MS, interval: 20 }).toBe(true);
  const other = await startServer(scene);
  const operation = () =>
    prisma.operation.findFirstOrThrow({ where: { id: writeRecords.operationId } });
  return { first, other, operation };
}
