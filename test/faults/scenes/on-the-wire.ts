/** Work that a server has begun and not ended: messages that hang at their receiver, a write without its answer. */
import { expect, onTestFinished } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createOwing } from '../../support/scenes/deliveries.ts';
import { WRITE } from './killed-writers.ts';
import { type Scene, startServer } from './write-scene.ts';

const MINUTE_MS = 60_000;
export const PLACE = 'hook';
/** As many as one destination gets at once. */
export const ON_THE_WIRE = 8;
export const MESSAGES = 20;

export async function receiverFor(database: Database) {
  const receiver = await startReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const { destination, owe } = await createOwing(database);
  const { id } = await destination(receiver.url(PLACE));
  receiver.behave(PLACE, 'HANG');
  return { receiver, owed: await owe(id, MESSAGES) };
}

export function timesOf(received: readonly { id: string }[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const { id } of received) times.set(id, (times.get(id) ?? 0) + 1);
  return times;
}

/** A write that the sandbox has done and not answered, in a server of its own. */
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
