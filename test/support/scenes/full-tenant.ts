import type { TestApp } from '../app.ts';
import { insertRows } from '../database/rows.ts';
import { contentFor, installFor, integrate } from './integrations.ts';

const CREATE_DESTINATION = `mutation ($input: CreateDestinationInput!) {
  createDestination(input: $input) { destination { id } }
}`;

/** A project with a row of every kind, so that ids lead somewhere. */
export async function fullTenant(app: TestApp) {
  const tenant = await app.tenant('fuzz');
  const { projectId, orgId } = tenant;
  const url = 'https://hooks.example.com/in';
  const make = (name: string) => ({ projectIdOrName: projectId, name, type: 'WEBHOOK', url });
  await tenant.query(CREATE_DESTINATION, { input: make('records') });
  const made = await tenant.query(CREATE_DESTINATION, { input: make('others') });
  const { id: destinationId } = made.createDestination.destination;
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
