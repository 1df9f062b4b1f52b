/** The fixture's resources, with every field that can be set. Each is created when a rule first needs it. */
import { expect } from 'vitest';
import type { TestApp } from '../app.ts';
import { POLLING, startReadJobs } from '../fixtures/reads.ts';
import { createContact } from '../fixtures/writes.ts';
import { createRestClient } from '../rest/rest-client.ts';
import type { RestInstallation } from '../rest/rest-installation.ts';
import { createConnectionResources } from './accounts.ts';
import { lazy } from './lazy.ts';

// biome-ignore lint/suspicious/noExplicitAny: a rule knows the shape of the response
type ResponseBody = any;

export type Resources = ReturnType<typeof createResources>;

type ResourceContext = RestInstallation & { app: TestApp };

export function createResources(context: ResourceContext) {
  return {
    ...createOrgResources(context),
    ...createConnectionResources(context),
    ...createEventResources(context),
    ...createOperationResources(context),
  };
}

function createOrgResources({ app, tenant, base, ...rest }: ResourceContext) {
  const inOrg = `/orgs/${tenant.orgId}`;
  return {
    apiKey: lazy(() => rest.post(`${base}/api-keys`, { label: 'CI', scopes: ['read'] })),
    project: lazy(async () => {
      await rest.patch(base, { updateMask: ['appName'], project: { appName: 'Their app' } });
      return rest.get(`${base}?includeEntitlements=true`);
    }),
    /** The invite is revoked, so that it has an update time. */
    invite: lazy(async () => {
      const { id } = await rest.post(`${inOrg}/invites`, { email: 'eve@example.com' });
      await rest.delete(`${inOrg}/invites/${id}`);
      return rest.get(`${inOrg}/invites/${id}`);
    }),
    builder: lazy(async () => {
      const claims = { sub: 'ada', email: 'ada@builders.test', name: 'Ada L.' };
      const names = { given_name: 'Ada', family_name: 'L.' };
      const token = await app.app.verifier.mint?.({ ...claims, ...names });
      const client = createRestClient(app, { authorization: `Bearer ${token}` });
      return { ...(await client.get('/my-info')).builder, token };
    }),
    billingAccount: lazy(() => rest.get(`${inOrg}/billingAccount`)),
  };
}

function createEventResources({ base, ...rest }: ResourceContext) {
  const topic = lazy(() => rest.post(`${base}/topics`, { name: 'everything' }));
  const destination = lazy(
    (): Promise<ResponseBody> =>
      rest.post(`${base}/destinations`, {
        name: 'inbox',
        type: 'webhook',
        metadata: { url: 'https://hooks.example.com/in' },
      }),
  );
  return {
    topic,
    destination,
    topicRoute: lazy(async () => {
      const [{ id: topicId }, { id: destinationId }] = [await topic(), await destination()];
      return rest.post(`${base}/topic-destination-routes`, { topicId, destinationId });
    }),
    eventRoute: lazy(async () => {
      const { id: topicId } = await topic();
      const route = { topicId, eventType: 'connection.created' };
      return rest.post(`${base}/notification-event-topic-routes`, route);
    }),
  };
}

function createOperationResources({ app, base, integrationPath, ...rest }: ResourceContext) {
  const objectPath = `${integrationPath}/objects/contacts`;
  return {
    /** The operation of a read that has succeeded. */
    operation: lazy(async () => {
      await using _jobs = await startReadJobs(app);
      const { operationId } = await rest.post(`${objectPath}:read`, { groupRef: 'acme' });
      const path = `${base}/operations/${operationId}`;
      await expect.poll(async () => (await rest.get(path)).status, POLLING).toBe('success');
      return rest.get(path);
    }),
    writeResult: lazy(() => {
      const write = { groupRef: 'acme', type: 'create', record: createMappedContact() };
      return rest.post(objectPath, write, 200);
    }),
    objectMetadata: lazy(() => rest.get(`${objectPath}/metadata?groupRef=acme`)),
  };
}

/** A contact with the field names that the integration's mapping defines. */
export function createMappedContact(overrides: object = {}): Record<string, unknown> {
  const { email, lastname } = createContact();
  return { mail: email, lastname, ...overrides };
}
