/** The setting ORG_CREATION, which limits the builders who may create orgs. */
import { expect, test } from 'vitest';
import { createOrgWithInvite } from '../../../../src/domain/tenants/org/invite.ts';
import { getSharedApp } from '../../../support/app.ts';

const app = await getSharedApp({ env: { ORG_CREATION: 'invited' } });

const CREATE_ORG = 'mutation CreateOrg { createOrg(input: { label: "Own" }) { org { label } } }';

async function createBuilder(email: string) {
  const token = await app.app.verifier.mint?.({ sub: email, email, email_verified: true });
  return app.createClient({ authorization: `Bearer ${token}` });
}

test('refuses an org to builders without one, until they have accepted an invite', async () => {
  const email = 'invited@example.com';
  const invitedBuilder = await createBuilder(email);
  const refusal = await invitedBuilder.expectRefusal(CREATE_ORG);
  expect([refusal.code, refusal.problem.detail]).toEqual([
    'FORBIDDEN',
    expect.stringContaining('ORG_CREATION'),
  ]);
  const { invite } = await createOrgWithInvite(app.app.services.database, { label: 'Acme', email });
  expect((await invitedBuilder.expectRefusal(CREATE_ORG)).code).toBe('FORBIDDEN');
  await invitedBuilder.query(
    `mutation AcceptInvite { acceptInvite(input: { inviteId: "${invite.id}" }) { invite { status } } }`,
  );
  expect(await invitedBuilder.query(CREATE_ORG)).toEqual({ createOrg: { org: { label: 'Own' } } });
  const { orgs } = await invitedBuilder.query('{ orgs { nodes { label viewerRole } } }');
  expect(orgs.nodes).toEqual([
    { label: 'Own', viewerRole: 'ADMIN' },
    { label: 'Acme', viewerRole: 'ADMIN' },
  ]);
});
