/** Rules for the states of connections, invites, operations and reads. */
import { expect } from 'vitest';
import type { Fixture } from '../support/conformance/fixture.ts';
import { createMappedContact } from '../support/conformance/fixture-resources.ts';
import { createInviteBody } from '../support/conformance/fresh-resources.ts';
import type { Choice, Rule, Section } from '../support/conformance/rule.ts';
import { generateConnection } from '../support/fixtures/connections.ts';
import { RESUME_READS } from '../support/fixtures/reads.ts';
import { startWriteJobs } from '../support/fixtures/writes.ts';
import {
  CLIENT,
  callSandbox,
  connectWithTokens,
  getConnection,
} from '../support/providers/oauth.ts';
import { createRestClient } from '../support/rest/rest-client.ts';

/** Returns the status of a connection, and expects that it is equal on both surfaces. */
async function fetchStatus({ get, base, tenant }: Fixture, id: string) {
  const query = `query GetConnectedAccount($id: ID!) {
    node(id: $id) { ... on ConnectedAccount { status } }
  }`;
  const { node } = await tenant.query(query, { id });
  const { status } = await get(`${base}/connections/${id}`);
  expect(node.status.toLowerCase()).toBe(status);
  return status;
}

const createSurfaceRule = (title: string, check: Rule['rest']): Rule => ({
  title,
  rest: check,
  graphql: check,
});
const callProvider = async ({ app }: Fixture, id: string) =>
  callSandbox(app, await getConnection(app, id));

const connectionStates: Rule[] = [
  createSurfaceRule('A connection is `created` when it is new.', async (fixture) => {
    const { id } = await generateConnection(fixture.tenant, {
      groupRef: fixture.createUniqueName('group'),
      apiKey: 'sandbox-key',
    });
    expect(await fetchStatus(fixture, id)).toBe('created');
  }),
  createSurfaceRule(
    'A connection is `created` after a refresh of its access token.',
    async (fixture) => {
      const { id } = await connectWithTokens(fixture.app, fixture.tenant);
      await fixture.patch(
        `${fixture.base}/provider-apps/${(await fixture.resources.providerApp()).id}`,
        {
          updateMask: ['clientId', 'clientSecret'],
          providerApp: CLIENT,
        },
      );
      await fixture.get(`${fixture.base}/connections/${id}?refresh=force`);
      expect(await fetchStatus(fixture, id)).toBe('created');
    },
  ),
  createSurfaceRule('A connection is `working` after a successful request.', async (fixture) => {
    const groupRef = fixture.createUniqueName('group');
    const { id } = await generateConnection(fixture.tenant, { groupRef, apiKey: 'sandbox-key' });
    await callProvider(fixture, id);
    expect(await fetchStatus(fixture, id)).toBe('working');
  }),
  createSurfaceRule(
    'A connection is `bad_credentials` after the provider rejected its credentials in a request.',
    async (fixture) => {
      const groupRef = fixture.createUniqueName('group');
      const { id } = await generateConnection(fixture.tenant, {
        groupRef,
        apiKey: 'wrong',
        skipCheck: true,
      });
      await callProvider(fixture, id);
      expect(await fetchStatus(fixture, id)).toBe('bad_credentials');
    },
  ),
  createSurfaceRule(
    'A connection is `bad_credentials` after the provider refused to refresh its token.',
    async (fixture) => {
      const { id } = await generateConnection(fixture.tenant, {
        groupRef: fixture.createUniqueName('group'),
        oauth2AuthorizationCode: { refreshToken: { token: 'revoked' } },
      });
      await fixture.request('GET', `${fixture.base}/connections/${id}?refresh=force`);
      expect(await fetchStatus(fixture, id)).toBe('bad_credentials');
    },
  ),
];

async function createInvite(fixture: Fixture) {
  const path = `/orgs/${fixture.tenant.orgId}/invites`;
  const { id } = await fixture.post(path, createInviteBody(fixture));
  const query = 'query GetInvite($id: ID!) { node(id: $id) { ... on Invite { status } } }';
  return {
    id: id as string,
    path: `${path}/${id}`,
    async fetchStatus() {
      const { node } = await fixture.tenant.query(query, { id });
      const { status } = await fixture.get(`${path}/${id}`);
      expect(node.status.toLowerCase()).toBe(status);
      return status;
    },
  };
}
const WEEK_MS = 7 * 24 * 3_600_000;

const inviteStates: Choice[] = [
  {
    ...createSurfaceRule('An invite is `pending` when it is new.', async (fixture) => {
      expect(await (await createInvite(fixture)).fetchStatus()).toBe('pending');
    }),
    open: 'Transitions of an invite',
  },
  {
    ...createSurfaceRule(
      'An invite is `revoked` when it is deleted. Only a pending invite can be deleted.',
      async (fixture) => {
        const invite = await createInvite(fixture);
        await fixture.delete(invite.path);
        expect(await invite.fetchStatus()).toBe('revoked');
        expect(await fixture.expectRefusal('DELETE', invite.path)).toMatchObject({ status: 409 });
      },
    ),
    open: 'Transitions of an invite',
  },
  {
    ...createSurfaceRule(
      'An invite is `accepted` when the builder with the invited email address accepts it.',
      async (fixture) => {
        const { token, primaryEmail: email } = await fixture.resources.builder();
        const path = `/orgs/${fixture.tenant.orgId}/invites`;
        const invites = await fixture.get(path);
        const ownInvite = invites.find(
          (invite: { invitedEmail: string }) => invite.invitedEmail === email,
        );
        const { id, status } = ownInvite ?? (await fixture.post(path, { email }));
        const guest = createRestClient(fixture.app, { authorization: `Bearer ${token}` });
        if (status === 'pending') await guest.post('/invites:accept', { inviteId: id }, 200);
        expect(await fixture.get(`${path}/${id}`)).toMatchObject({ status: 'accepted' });
      },
    ),
    open: 'Transitions of an invite',
  },
  {
    ...createSurfaceRule(
      'An invite is `expired` 7 days after its creation, if it was neither accepted nor revoked.',
      async (fixture) => {
        const invite = await createInvite(fixture);
        fixture.clock.aheadMs = WEEK_MS;
        try {
          expect(await invite.fetchStatus()).toBe('expired');
        } finally {
          fixture.clock.aheadMs = 0;
        }
      },
    ),
    open: 'Transitions of an invite',
  },
];

const fetchOperationStatus = async ({ get, base }: Fixture, id: string) =>
  (await get(`${base}/operations/${id}`)).status;
const writeContact = ({ request, objectPath }: Fixture, overrides: object) =>
  request('POST', objectPath, { groupRef: 'acme', type: 'create', ...overrides });

const operationStates: Choice[] = [
  {
    open: 'Other states of an operation',
    ...createSurfaceRule('An operation is `in_progress` until it has ended.', async (fixture) => {
      const members = { mode: 'asynchronous', record: createMappedContact() };
      const { operationId } = (await writeContact(fixture, members)).body;
      expect(await fetchOperationStatus(fixture, operationId)).toBe('in_progress');
      await using _jobs = await startWriteJobs(fixture.app);
      await expect.poll(() => fetchOperationStatus(fixture, operationId)).toBe('success');
    }),
  },
  {
    open: 'Other states of an operation',
    ...createSurfaceRule('An operation that failed is `failure`.', async (fixture) => {
      const { operationId } = (await writeContact(fixture, { record: { lastname: 'No email' } }))
        .body;
      expect(await fetchOperationStatus(fixture, operationId)).toBe('failure');
    }),
  },
];

const fetchPaused = async ({ get, installationPath }: Fixture) =>
  (await get(installationPath)).objects.map(({ paused }: { paused: boolean }) => paused);
const pauseReads = ({ post, installationPath }: Fixture, body?: object) =>
  post(`${installationPath}:pause`, body, 204);
const resumeReads = async ({ tenant, installation: { id } }: Fixture) =>
  tenant.query(RESUME_READS, {
    input: { projectIdOrName: tenant.projectName, installationId: id },
  });

const pauseStates: Rule[] = [
  createSurfaceRule('A pause without objects pauses the reads of all objects.', async (fixture) => {
    await resumeReads(fixture);
    await pauseReads(fixture);
    expect(await fetchPaused(fixture)).toEqual([true]);
  }),
  createSurfaceRule("A pause accepts the provider's name of an object.", async (fixture) => {
    await resumeReads(fixture);
    await pauseReads(fixture, { objects: ['contacts'] });
    expect(await fetchPaused(fixture)).toEqual([true]);
  }),
  createSurfaceRule('A pause accepts the mapped name of an object.', async (fixture) => {
    await resumeReads(fixture);
    await pauseReads(fixture, { objects: ['people'] });
    expect(await fetchPaused(fixture)).toEqual([true]);
  }),
];

export const states: Section[] = [
  { title: 'States of connections', rules: connectionStates },
  {
    title: 'States of operations',
    rules: [
      createSurfaceRule(
        'The operation of a read or a write that succeeded is `success`.',
        async ({ resources }) => {
          expect(await resources.operation()).toMatchObject({
            actionType: 'read',
            status: 'success',
          });
        },
      ),
    ],
    choices: [...inviteStates, ...operationStates],
  },
  {
    title: 'Pauses of reads',
    rules: pauseStates,
    choices: [
      {
        open: 'How reads are resumed',
        ...createSurfaceRule(
          'Reads are resumed by `:unpause` or `resumeReads`.',
          async (fixture) => {
            await pauseReads(fixture);
            await fixture.post(`${fixture.installationPath}:unpause`, undefined, 204);
            expect(await fetchPaused(fixture)).toEqual([false]);
            await pauseReads(fixture);
            await resumeReads(fixture);
            expect(await fetchPaused(fixture)).toEqual([false]);
          },
        ),
      },
    ],
  },
];
