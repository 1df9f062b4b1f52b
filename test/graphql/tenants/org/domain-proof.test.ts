/** Tests claimed domains: the proof by DNS, joining an org, expiry and release. */
import { expect, test } from 'vitest';
import { DAY_MS } from '../../../../src/work/durations.ts';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { createRestClient, createRestTenant } from '../../../support/rest/rest-client.ts';

const records = new Map<string, string[] | Error>();
const clock = { aheadMs: 0 };
const app = await getSharedApp({
  now: () => new Date(Date.now() + clock.aheadMs),
  async readTxtRecords(domain) {
    const values = records.get(domain) ?? [];
    if (values instanceof Error) throw values;
    return values;
  },
});

const CLAIM_DOMAIN = `mutation ClaimDomain($input: ClaimDomainInput!) {
  claimDomain(input: $input) { claimedDomain { id domain verifiedTime verificationText } }
}`;
const VERIFY_CLAIMED_DOMAIN = `mutation VerifyClaimedDomain($input: VerifyClaimedDomainInput!) {
  verifyClaimedDomain(input: $input) { claimedDomain { id verifiedTime } }
}`;
const RELEASE_CLAIMED_DOMAIN = `mutation ReleaseClaimedDomain($input: ReleaseClaimedDomainInput!) {
  releaseClaimedDomain(input: $input) { deletedId }
}`;
const JOIN_ORG =
  'mutation JoinOrg($input: JoinOrgInput!) { joinOrg(input: $input) { org { id } } }';
const LIST_JOINABLE_ORGS = `{ viewer { joinableOrgs { totalCount nodes {
  id label billingAccount { id }
  members { totalCount } projects { totalCount } invites { totalCount }
  claimedDomains { totalCount }
} } } }`;

const createDomain = () => `d-${crypto.randomUUID()}.example.com`;

async function claimDomain({ builder, orgId }: Tenant, domain: string) {
  const input = { domain, parentId: orgId, parentType: 'ORG' };
  return (await builder.query(CLAIM_DOMAIN, { input })).claimDomain.claimedDomain;
}

async function proveDomain(tenant: Tenant, domain: string) {
  const claim = await claimDomain(tenant, domain);
  records.set(domain, ['v=spf1 -all', claim.verificationText]);
  const input = { claimedDomainId: claim.id };
  return (await tenant.builder.query(VERIFY_CLAIMED_DOMAIN, { input })).verifyClaimedDomain
    .claimedDomain;
}

async function createPerson(
  domain: string,
  overrides: { email_verified?: boolean | undefined } = {},
) {
  const claims = { sub: crypto.randomUUID(), email: `ada@${domain}`, ...overrides };
  const token = await app.app.verifier.mint?.(claims);
  return { token, ...app.createClient({ authorization: `Bearer ${token}` }) };
}

test('verifies a claimed domain if DNS has its verification text', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const domain = createDomain();
  const claim = await claimDomain(tenant, domain);
  expect(claim).toMatchObject({ domain, verifiedTime: null });
  const input = { claimedDomainId: claim.id };
  const missingRecord = await tenant.builder.expectRefusal(VERIFY_CLAIMED_DOMAIN, { input });
  expect(missingRecord.code).toBe('UNPROCESSABLE');
  expect(missingRecord.problem.detail).toContain(claim.verificationText);
  records.set(domain, Object.assign(new Error('no answer'), { code: 'ETIMEOUT' }));
  const unreachableDns = await tenant.builder.expectRefusal(VERIFY_CLAIMED_DOMAIN, { input });
  expect(unreachableDns.problem.detail).toContain('ETIMEOUT');
  records.set(domain, [claim.verificationText]);
  expect(await otherTenant.builder.expectRefusal(VERIFY_CLAIMED_DOMAIN, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(await tenant.expectRefusal(VERIFY_CLAIMED_DOMAIN, { input })).toMatchObject({
    code: 'FORBIDDEN',
  });
  const { verifyClaimedDomain } = await tenant.builder.query(VERIFY_CLAIMED_DOMAIN, { input });
  expect(verifyClaimedDomain.claimedDomain.verifiedTime).toEqual(expect.any(String));
  records.delete(domain);
  expect(await tenant.builder.query(VERIFY_CLAIMED_DOMAIN, { input })).toEqual({
    verifyClaimedDomain,
  });
});

test('lets builders with a verified address of a proven domain join, and returns nothing to them before', async () => {
  const tenant = await app.createTenant();
  const domain = createDomain();
  const person = await createPerson(domain);
  const input = { orgId: tenant.orgId };
  await claimDomain(tenant, createDomain());
  expect((await person.query(LIST_JOINABLE_ORGS)).viewer.joinableOrgs.nodes).toEqual([]);
  expect(await person.expectRefusal(JOIN_ORG, { input })).toMatchObject({ code: 'NOT_FOUND' });
  await proveDomain(tenant, domain);
  const none = { totalCount: 0 };
  expect((await person.query(LIST_JOINABLE_ORGS)).viewer.joinableOrgs).toEqual({
    totalCount: 1,
    nodes: [
      {
        id: tenant.orgId,
        label: expect.any(String),
        billingAccount: null,
        ...{ members: none, projects: none, invites: none, claimedDomains: none },
      },
    ],
  });
  expect(
    await (await createPerson(createDomain())).expectRefusal(JOIN_ORG, { input }),
  ).toMatchObject({ code: 'NOT_FOUND' });
  for (const email_verified of [false, undefined]) {
    const unverified = await createPerson(domain, { email_verified });
    expect((await unverified.query(LIST_JOINABLE_ORGS)).viewer.joinableOrgs.nodes).toEqual([]);
    expect(await unverified.expectRefusal(JOIN_ORG, { input })).toMatchObject({
      code: 'NOT_FOUND',
    });
  }
  expect((await tenant.query(LIST_JOINABLE_ORGS)).viewer.joinableOrgs.nodes).toEqual([]);
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    expect(await person.query(JOIN_ORG, { input })).toEqual({
      joinOrg: { org: { id: tenant.orgId } },
    });
  }
  expect((await person.query(LIST_JOINABLE_ORGS)).viewer.joinableOrgs.nodes).toEqual([]);
  expect((await person.query('{ orgs { nodes { id viewerRole } } }')).orgs.nodes).toEqual([
    { id: tenant.orgId, viewerRole: 'MEMBER' },
  ]);
});

test('reserves an unproven domain for 7 days, and then for the first org that proves it', async () => {
  const [firstTenant, secondTenant] = [await app.createTenant(), await app.createTenant()];
  const domain = createDomain();
  const expiredClaim = await claimDomain(firstTenant, domain);
  const input = { domain, parentId: secondTenant.orgId, parentType: 'ORG' };
  expect(await secondTenant.builder.expectRefusal(CLAIM_DOMAIN, { input })).toMatchObject({
    code: 'CONFLICT',
  });
  clock.aheadMs = 7 * DAY_MS + 1_000;
  try {
    const provenClaim = await proveDomain(secondTenant, domain);
    expect(provenClaim.verifiedTime).toEqual(expect.any(String));
    const expired = { input: { claimedDomainId: expiredClaim.id } };
    expect(await firstTenant.builder.expectRefusal(VERIFY_CLAIMED_DOMAIN, expired)).toMatchObject({
      code: 'NOT_FOUND',
    });
    const again = { ...input, parentId: firstTenant.orgId };
    expect(await firstTenant.builder.expectRefusal(CLAIM_DOMAIN, { input: again })).toMatchObject({
      code: 'CONFLICT',
    });
  } finally {
    clock.aheadMs = 0;
  }
});

test('frees a released domain, through which builders can no longer join', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const domain = createDomain();
  const { id } = await proveDomain(tenant, domain);
  const input = { claimedDomainId: id };
  expect(await otherTenant.builder.expectRefusal(RELEASE_CLAIMED_DOMAIN, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(await tenant.builder.query(RELEASE_CLAIMED_DOMAIN, { input })).toEqual({
    releaseClaimedDomain: { deletedId: id },
  });
  const person = await createPerson(domain);
  expect((await person.query(LIST_JOINABLE_ORGS)).viewer.joinableOrgs.nodes).toEqual([]);
  expect(await claimDomain(otherTenant, domain)).toMatchObject({ domain });
});

test('verifies and releases a domain, and lets builders join, over REST', async () => {
  const rest = await createRestTenant(app);
  const { orgId } = rest.tenant;
  const domain = createDomain();
  await rest.builder.request('POST', '/claimed-domains', {
    domain,
    parentId: orgId,
    parentType: 'org',
  });
  const [claim] = await rest.builder.get(`/orgs/${orgId}/claimed-domains`);
  const path = `/claimed-domains/${claim.id}`;
  expect(await rest.builder.expectRefusal('POST', `${path}:verify`)).toMatchObject({ status: 422 });
  records.set(domain, [claim.verificationText]);
  const verified = await rest.builder.post(`${path}:verify`, undefined, 200);
  expect(verified).toEqual({ ...claim, verifiedTime: expect.any(String) });
  const { token } = await createPerson(domain);
  const send = async (method: string, at: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await app.fetch(`/v1${at}`, { method, headers })).json();
  };
  expect(await send('GET', '/joinable-orgs')).toMatchObject([{ id: orgId }]);
  expect(await send('POST', `/orgs/${orgId}:join`)).toMatchObject({ id: orgId });
  expect(await send('GET', '/orgs')).toMatchObject([{ id: orgId }]);
  await rest.builder.delete(path);
});

const ADD_MEMBER = `mutation AddMember($input: AddMemberInput!) {
  addMember(input: $input) { org { id } }
}`;
const LIST_ORGS = '{ orgs { nodes { id } } }';

test('lets an admin add builders of a proven domain and colleagues only', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const rest = await createRestTenant(app);
  const domain = createDomain();
  const person = await createPerson(domain);
  const builderId = (await person.query('{ viewer { builder { id } } }')).viewer.builder.id;
  const input = { orgId: tenant.orgId, builderId };
  const unknown = { code: 'NOT_FOUND' };
  expect(await tenant.builder.expectRefusal(ADD_MEMBER, { input })).toMatchObject(unknown);
  await proveDomain(tenant, domain);
  expect(await otherTenant.builder.expectRefusal(ADD_MEMBER, { input })).toMatchObject(unknown);
  expect(await tenant.builder.query(ADD_MEMBER, { input })).toEqual({
    addMember: { org: { id: tenant.orgId } },
  });
  expect((await person.query(LIST_ORGS)).orgs.nodes).toEqual([{ id: tenant.orgId }]);

  // An admin may add a builder of the first org to another of their own orgs.
  await tenant.builder.query(ADD_MEMBER, { input });
  const { createOrg } = await tenant.builder.query(
    'mutation CreateOrg { createOrg(input: { label: "Second" }) { org { id } } }',
  );
  const secondOrgId = createOrg.org.id;
  await tenant.builder.query(ADD_MEMBER, { input: { orgId: secondOrgId, builderId } });
  expect((await person.query(LIST_ORGS)).orgs.nodes).toHaveLength(2);

  // Over REST, a builder who adds themselves joins.
  const joiningPerson = await createPerson(domain);
  const personClient = createRestClient(app, { authorization: `Bearer ${joiningPerson.token}` });
  const { builder } = await personClient.get('/my-info');
  const body = { builderId: builder.id };
  expect(await personClient.post(`/orgs/${tenant.orgId}/memberships`, body)).toBe('');
  expect((await personClient.get('/my-info')).orgIds).toEqual([tenant.orgId]);
  expect(
    await rest.builder.expectRefusal('POST', `/orgs/${rest.tenant.orgId}/memberships`, body),
  ).toMatchObject({ status: 404 });
});
