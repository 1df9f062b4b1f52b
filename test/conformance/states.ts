/** States, and the changes that lead to each. */
import { expect } from 'vitest';
import { inviteBody } from '../support/conformance/fresh-resources.ts';
import type { Choice, Rule, Section } from '../support/conformance/rule.ts';
import type { Scene } from '../support/conformance/scene.ts';
import { mappedContact } from '../support/conformance/scene-resources.ts';
import {
  CLIENT,
  callSandbox,
  connectWithTokens,
  getConnection,
} from '../support/providers/oauth.ts';
import { restClient } from '../support/rest/rest-client.ts';
import { generateConnection } from '../support/scenes/connections.ts';
import { RESUME } from '../support/scenes/reads.ts';
import { startWriteJobs } from '../support/scenes/writes.ts';

/** The status on both surfaces. */
async function fetchStatuses({ get, base, tenant }: Scene, id: string) {
  const query = 'query ($id: ID!) { node(id: $id) { ... on ConnectedAccount { status } } }';
  const { node } = await tenant.query(query, { id });
  const { status } = await get(`${base}/connections/${id}`);
  expect(node.status.toLowerCase()).toBe(status);
  return status;
}

const both = (title: string, check: Rule['rest']): Rule => ({ title, rest: check, graphql: check });
const call = async ({ app }: Scene, id: string) => callSandbox(app, await getConnection(app, id));

const ofConnections: Rule[] = [
  both('A connection is `created` when it is new.', async (scene) => {
    const { id } = await generateConnection(scene.tenant, {
      groupRef: scene.uniqueName('group'),
      apiKey: 'sandbox-key',
    });
    expect(await fetchStatuses(scene, id)).toBe('created');
  }),
  both('A connection is `created` after a refresh of its access token.', async (scene) => {
    const { id } = await connectWithTokens(scene.app, scene.tenant);
    await scene.patch(`${scene.base}/provider-apps/${(await scene.resources.providerApp()).id}`, {
      updateMask: ['clientId', 'clientSecret'],
      providerApp: CLIENT,
    });
    await scene.get(`${scene.base}/connections/${id}?refresh=force`);
    expect(await fetchStatuses(scene, id)).toBe('created');
  }),
  both('A connection is `working` after a successful request.', async (scene) => {
    const groupRef = scene.uniqueName('group');
    const { id } = await generateConnection(scene.tenant, { groupRef, apiKey: 'sandbox-key' });
    await call(scene, id);
    expect(await fetchStatuses(scene, id)).toBe('working');
  }),
  both(
    'A connection is `bad_credentials` after the provider refused its credentials in a request.',
    async (scene) => {
      const groupRef = scene.uniqueName('group');
      const { id } = await generateConnection(scene.tenant, {
        groupRef,
        apiKey: 'wrong',
        skipCheck: true,
      });
      await call(scene, id);
      expect(await fetchStatuses(scene, id)).toBe('bad_credentials');
    },
  ),
  both(
    'A connection is `bad_credentials` after the provider refused to refresh its token.',
    async (scene) => {
      const { id } = await generateConnection(scene.tenant, {
        groupRef: scene.uniqueName('group'),
        oauth2AuthorizationCode: { refreshToken: { token: 'revoked' } },
      });
      await scene.ask('GET', `${scene.base}/connections/${id}?refresh=force`);
      expect(await fetchStatuses(scene, id)).toBe('bad_credentials');
    },
  ),
];

async function invited(scene: Scene) {
  const path = `/orgs/${scene.tenant.orgId}/invites`;
  const { id } = await scene.post(path, inviteBody(scene));
  const query = 'query ($id: ID!) { node(id: $id) { ... on Invite { status } } }';
  return {
    id: id as string,
    path: `${path}/${id}`,
    async status() {
      const { node } = await scene.tenant.query(query, { id });
      const { status } = await scene.get(`${path}/${id}`);
      expect(node.status.toLowerCase()).toBe(status);
      return status;
    },
  };
}
const WEEK_MS = 7 * 24 * 3_600_000;

const ofInvites: Choice[] = [
  {
    ...both('It is `pending` when it is new.', async (scene) => {
      expect(await (await invited(scene)).status()).toBe('pending');
    }),
    open: 'Transitions of an invite',
  },
  {
    ...both(
      'It is `revoked` when it is deleted. Only a pending invite can be deleted.',
      async (scene) => {
        const invite = await invited(scene);
        await scene.delete(invite.path);
        expect(await invite.status()).toBe('revoked');
        expect(await scene.refusal('DELETE', invite.path)).toMatchObject({ status: 409 });
      },
    ),
    open: 'Transitions of an invite',
  },
  {
    ...both('It is `accepted` when the builder of that address accepts it.', async (scene) => {
      const { token, primaryEmail: email } = await scene.resources.builder();
      const path = `/orgs/${scene.tenant.orgId}/invites`;
      const known = await scene.get(path);
      const mine = known.find((one: { invitedEmail: string }) => one.invitedEmail === email);
      const { id, status } = mine ?? (await scene.post(path, { email }));
      const guest = restClient(scene.app, { authorization: `Bearer ${token}` });
      if (status === 'pending') await guest.post('/invites:accept', { inviteId: id }, 200);
      expect(await scene.get(`${path}/${id}`)).toMatchObject({ status: 'accepted' });
    }),
    open: 'Transitions of an invite',
  },
  {
    ...both(
      'It is `expired` 7 days after its creation, if it was neither accepted nor revoked.',
      async (scene) => {
        const invite = await invited(scene);
        scene.clock.aheadMs = WEEK_MS;
        try {
          expect(await invite.status()).toBe('expired');
        } finally {
          scene.clock.aheadMs = 0;
        }
      },
    ),
    open: 'Transitions of an invite',
  },
];

const statusOfOperation = async ({ get, base }: Scene, id: string) =>
  (await get(`${base}/operations/${id}`)).status;
const write = ({ ask, objectPath }: Scene, overrides: object) =>
  ask('POST', objectPath, { groupRef: 'acme', type: 'create', ...overrides });

const ofOperations: Choice[] = [
  {
    open: 'Other states of an operation',
    ...both('An operation is `in_progress` until it has ended.', async (scene) => {
      const given = { mode: 'asynchronous', record: mappedContact() };
      const { operationId } = (await write(scene, given)).body;
      expect(await statusOfOperation(scene, operationId)).toBe('in_progress');
      await using _jobs = await startWriteJobs(scene.app);
      await expect.poll(() => statusOfOperation(scene, operationId)).toBe('success');
    }),
  },
  {
    open: 'Other states of an operation',
    ...both('An operation that failed is `failure`.', async (scene) => {
      const { operationId } = (await write(scene, { record: { lastname: 'No e-mail' } })).body;
      expect(await statusOfOperation(scene, operationId)).toBe('failure');
    }),
  },
];

const fetchPaused = async ({ get, installationPath }: Scene) =>
  (await get(installationPath)).objects.map(({ paused }: { paused: boolean }) => paused);
const pausing = ({ post, installationPath }: Scene, body?: object) =>
  post(`${installationPath}:pause`, body, 204);
const resuming = async ({ tenant, installation: { id } }: Scene) =>
  tenant.query(RESUME, { input: { projectIdOrName: tenant.projectName, installationId: id } });

const ofPauses: Rule[] = [
  both('A pause without objects pauses the reads of all objects.', async (scene) => {
    await resuming(scene);
    await pausing(scene);
    expect(await fetchPaused(scene)).toEqual([true]);
  }),
  both("A pause accepts the provider's name of an object.", async (scene) => {
    await resuming(scene);
    await pausing(scene, { objects: ['contacts'] });
    expect(await fetchPaused(scene)).toEqual([true]);
  }),
  both('A pause accepts the mapped name of an object.', async (scene) => {
    await resuming(scene);
    await pausing(scene, { objects: ['people'] });
    expect(await fetchPaused(scene)).toEqual([true]);
  }),
];

export const states: Section[] = [
  { title: 'States of connections', rules: ofConnections },
  {
    title: 'States of operations',
    rules: [
      both('A read or a write that succeeded is `success`.', async ({ resources }) => {
        expect(await resources.operation()).toMatchObject({
          actionType: 'read',
          status: 'success',
        });
      }),
    ],
    choices: [...ofInvites, ...ofOperations],
  },
  {
    title: 'Pauses of reads',
    rules: ofPauses,
    choices: [
      {
        open: 'How reads are resumed',
        ...both('By `:unpause` or `resumeReads`.', async (scene) => {
          await pausing(scene);
          await scene.post(`${scene.installationPath}:unpause`, undefined, 204);
          expect(await fetchPaused(scene)).toEqual([false]);
          await pausing(scene);
          await resuming(scene);
          expect(await fetchPaused(scene)).toEqual([false]);
        }),
      },
    ],
  },
];
