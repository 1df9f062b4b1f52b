/** Starts a backfill of the sandbox's contacts on a server that will be killed, and checks the result. */
import { expect } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import {
  CREATE_INSTALLATION,
  CREATE_INTEGRATION,
  contentFor,
} from '../../support/fixtures/integrations.ts';
import type { TestSandbox } from '../../support/providers/sandbox.ts';
import type { Scene, Server } from './write-scene.ts';

const MINUTE_MS = 60_000;

const DISABLE = `mutation ($input: UpdateDestinationInput!) {
  updateDestination(input: $input) { destination { status } }
}`;
const DESTINATIONS = `query ($idOrName: String!) {
  project(idOrName: $idOrName) { destinations(first: 1) { nodes { id } } }
}`;

/** Starts a backfill of all contacts. Its deliveries stay pending, because the destination is disabled. */
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
  // Sets the server's clock past the next time of the schedule.
  server.child.send(11 * MINUTE_MS);
}

/**
 * Expects that the deliveries contain each page once and in order, because a page and the read's position commit
 * together.
 */
export async function expectEachPageEnqueuedOnce(
  { prisma }: Pick<Database, 'prisma'>,
  sandbox: TestSandbox,
): Promise<void> {
  expect(await prisma.readRun.count()).toBe(0);
  const read: unknown[] = [];
  const deliveries = await prisma.delivery.findMany({
    select: { id: true },
    orderBy: { id: 'asc' },
  });
  for (const { id } of deliveries) {
    const { body } = await prisma.delivery.findFirstOrThrow({ where: { id } });
    for (const { raw } of JSON.parse(body).result) read.push(raw.id);
  }
  expect(read).toEqual(sandbox.records('contacts').map(({ id }) => id));
}
