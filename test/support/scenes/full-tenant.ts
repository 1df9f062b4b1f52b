import type { TestApp } from '../app.ts';
import { insertRows } from '../database/insert-rows.ts';
import { contentFor, installFor, integrate } from './integrations.ts';

const CREATE_DESTINATION = `mutation ($input: CreateDestinationInput!) {
  createDestination(input: $input) { destination { id } }
}`;

/** Creates a project with a row of every kind, so that fuzzed IDs name existing rows. */
export async function createFullTenant(app: TestApp) {
  const tenant = await app.tenant('fuzz');
  const { projectId, orgId } = tenant;
  const url = 'https://hooks.example.com/in';
  const destinationInput = (name: string) => ({
    projectIdOrName: projectId,
    name,
    type: 'WEBHOOK',
    url,
  });
  await tenant.query(CREATE_DESTINATION, { input: destinationInput('records') });
  const created = await tenant.query(CREATE_DESTINATION, { input: destinationInput('others') });
  const { id: destinationId } = created.createDestination.destination;
  const write = { objects: [{ objectName: 'contacts' }] };
  const integration = await integrate(app, tenant, contentFor('crm', { write }));
  const { id: installationId } = await installFor(tenant, integration);
  const insert = insertRows(app);
  const { id: operationId } = await insert.operation({ projectId, installationId });
  await insert.operationLog({ projectId, operationId });
  const { id: eventId } = await insert.event({ projectId });
  const { id: deliveryId } = await insert.delivery({ projectId, eventId, destinationId });
  const ids = [integration.id, installationId, destinationId, operationId, eventId, deliveryId];
  return { ...tenant, ids: [...ids, orgId, projectId] };
}
