/** A read of the sandbox's contacts, begun by a server that is to be killed, and what came of it. */
import { expect } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import type { TestSandbox } from '../../support/providers/sandbox.ts';
import {
  CREATE_INSTALLATION,
  CREATE_INTEGRATION,
  contentFor,
} from '../../support/scenes/integrations.ts';
import type { Scene, Server } from './write-scene.ts';

const MINUTE_MS = 60_000;

const DISABLE = `mutation ($input: UpdateDestinationInput!) {
  updateDestination(input: $input) { destination { status } }
}`;
const DESTINATIONS = `query ($idOrName: String!) {
  project(idOrName: $idOrName) { destinations(first: 1) { nodes { id } } }
}`;

/** A backfill of all contacts, due now. What it owes waits, because its destination is disabled. */
export async function beginBackfill(server: Server, scene: Scene): Promise<void> {
  const { client } = server;
  const { projectIdOrName } = scene;
  const { project } = await client.query(DESTINATIONS, { idOrName: projectIdOrName });
  const destinationId = project.destinations.nodes[0].id;
  await client.query(DISABLE, { input: { projectIdOrName, destinationId, status: 'DISABLED' } });
  const content = contentFor('crm-read');
  const latestRevision = { specVersion: '1.0.0', content };
  const integration = { projectIdOrName, name: 'crm-read', provider: 'sandbox', latestRevision };
  await client.query(CREATE_INTEGRATION, { input: integration });
  const installation = { projectIdOrName, integrationIdOrName: 'crm-read', groupRef: 'acme' };
  await client.query(CREATE_INSTALLATION, { input: installation });
  // Past the next time of its schedule.
  server.child.send(11 * MINUTE_MS);
}

/** Read from the rows: each page once, in its order, since a page and the position commit together. */
export async function expectOwedOnce(
  { prisma }: Pick<Database, 'prisma'>,
  sandbox: TestSandbox,
): Promise<void> {
  expect(await prisma.readRun.count()).toBe(0);
  const read: unknown[] = [];
  const owed = await prisma.delivery.findMany({ select: { id: true }, orderBy: { id: 'asc' } });
  for (const { id } of owed) {
    const { body } = await prisma.delivery.findFirstOrThrow({ where: { id } });
    for (const { raw } of JSON.parse(body).result) read.push(raw.id);
  }
  expect(read).toEqual(sandbox.records('contacts').map(({ id }) => id));
}
