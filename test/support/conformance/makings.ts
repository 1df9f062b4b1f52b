/** What the scene has of each resource: made when a rule first needs it, with every field that can be set. */
import { expect } from 'vitest';
import type { TestApp } from '../app.ts';
import { restClient } from '../rest/rest-client.ts';
import type { RestInstallation } from '../rest/rest-installation.ts';
import { POLLING, startReading } from '../scenes/reads.ts';
import { contact } from '../scenes/writes.ts';
import { ofConnecting } from './accounts.ts';
import { once } from './once.ts';

// biome-ignore lint/suspicious/noExplicitAny: a rule reads what it is about
type Shown = any;

export type Made = ReturnType<typeof makings>;

type Place = RestInstallation & { app: TestApp };

export function makings(place: Place) {
  return { ...ofOrgs(place), ...ofConnecting(place), ...ofEvents(place), ...ofWork(place) };
}

function ofOrgs({ app, tenant, base, ...rest }: Place) {
  const inOrg = `/orgs/${tenant.orgId}`;
  return {
    apiKey: once(() => rest.post(`${base}/api-keys`, { label: 'CI', scopes: ['read'] })),
    project: once(async () => {
      await rest.patch(base, { updateMask: ['appName'], project: { appName: 'Their app' } });
      return rest.get(`${base}?includeEntitlements=true`);
    }),
    /** Has a time of its last change, because it is revoked. */
    invite: once(async () => {
      const { id } = await rest.post(`${inOrg}/invites`, { email: 'eve@example.com' });
      await rest.delete(`${inOrg}/invites/${id}`);
      return rest.get(`${inOrg}/invites/${id}`);
    }),
    builder: once(async () => {
      const claims = { sub: 'ada', email: 'ada@builders.test', name: 'Ada L.' };
      const names = { given_name: 'Ada', family_name: 'L.' };
      const token = await app.app.verifier.mint?.({ ...claims, ...names });
      const client = restClient(app, { authorization: `Bearer ${token}` });
      return { ...(await client.get('/my-info')).builder, token };
    }),
    billingAccount: once(() => rest.get(`${inOrg}/billingAccount`)),
  };
}

function ofEvents({ base, ...rest }: Place) {
  const topic = once(() => rest.post(`${base}/topics`, { name: 'everything' }));
  const destination = once(
    (): Promise<Shown> =>
      rest.post(`${base}/destinations`, {
        name: 'inbox',
        type: 'webhook',
        metadata: { url: 'https://hooks.example.com/in' },
      }),
  );
  return {
    topic,
    destination,
    topicRoute: once(async () => {
      const [{ id: topicId }, { id: destinationId }] = [await topic(), await destination()];
      return rest.post(`${base}/topic-destination-routes`, { topicId, destinationId });
    }),
    eventRoute: once(async () => {
      const { id: topicId } = await topic();
      const route = { topicId, eventType: 'connection.created' };
      return rest.post(`${base}/notification-event-topic-routes`, route);
    }),
  };
}

function ofWork({ app, base, integrationPath, ...rest }: Place) {
  const objectPath = `${integrationPath}/objects/contacts`;
  return {
    /** What a read left behind when it had ended. */
    operation: once(async () => {
      await using _jobs = await startReading(app);
      const { operationId } = await rest.post(`${objectPath}:read`, { groupRef: 'acme' });
      const path = `${base}/operations/${operationId}`;
      await expect.poll(async () => (await rest.get(path)).status, POLLING).toBe('success');
      return rest.get(path);
    }),
    writeResult: once(() => {
      const write = { groupRef: 'acme', type: 'create', record: mappedContact() };
      return rest.post(objectPath, write, 200);
    }),
    objectMetadata: once(() => rest.get(`${objectPath}/metadata?groupRef=acme`)),
  };
}

/** A contact by the names that the integration maps its fields to. */
export function mappedContact(given: object = {}): Record<string, unknown> {
  const { email, lastname } = contact();
  return { mail: email, lastname, ...given };
}
