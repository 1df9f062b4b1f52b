import { expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../../support/app.ts';

const app = await getSharedApp();

const CLAIM_DOMAIN = `mutation ClaimDomain($input: ClaimDomainInput!) {
  claimDomain(input: $input) { claimedDomain { id domain parentType parentId createTime } }
}`;
const GET_CLAIMED_DOMAIN = `query GetClaimedDomain($domain: String!) {
  claimedDomain(domain: $domain) { id domain }
}`;
const LIST_CLAIMED_DOMAINS = `query ListClaimedDomains($id: ID!, $first: Int, $after: String, $last: Int) {
  org(id: $id) {
    claimedDomains(first: $first, after: $after, last: $last) {
      totalCount nodes { domain } pageInfo { hasNextPage hasPreviousPage endCursor }
    }
  }
}`;
const GET_NODE = 'query GetNode($id: ID!) { node(id: $id) { id } }';

let count = 0;
const createDomain = () => {
  count += 1;
  return `d${count}-${crypto.randomUUID().slice(0, 8)}.example.com`;
};
const createInput = (domain: string, parentId: string) => ({
  input: { domain, parentId, parentType: 'ORG' },
});

async function addClaim({ builder, orgId }: Tenant, domain: string): Promise<{ id: string }> {
  return (await builder.query(CLAIM_DOMAIN, createInput(domain, orgId))).claimDomain.claimedDomain;
}

function createBuilder(domain: string) {
  const claims = { sub: crypto.randomUUID(), email: `ada@${domain}` };
  return app.app.verifier
    .mint?.(claims)
    .then((token) => app.createClient({ authorization: `Bearer ${token}` }));
}

test("claims the domain of a URL or an email address for the builder's org", async () => {
  const tenant = await app.createTenant();
  const [a, b] = [createDomain(), createDomain()];
  expect(await addClaim(tenant, `https://www.${a.toUpperCase()}:8443/x`)).toEqual({
    id: expect.stringMatching(/^dom_/),
    domain: a,
    parentType: 'ORG',
    parentId: tenant.orgId,
    createTime: expect.any(String),
  });
  expect(await addClaim(tenant, `Ada@${b}`)).toMatchObject({ domain: b });
});

test('claims a domain once across all orgs, even in concurrent calls', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const domain = createDomain();
  const responses = await Promise.all(
    [tenant, otherTenant, tenant].map(({ builder, orgId }) =>
      builder.request(CLAIM_DOMAIN, createInput(domain, orgId)),
    ),
  );
  const codes = responses
    .flatMap(({ errors }) => errors ?? [])
    .map((error) => error.extensions.code);
  expect(codes).toEqual(['CONFLICT', 'CONFLICT']);
  for (const { builder, orgId } of [tenant, otherTenant]) {
    const variables = createInput(`ada@${domain}`, orgId);
    expect(await builder.expectRefusal(CLAIM_DOMAIN, variables)).toMatchObject({
      code: 'CONFLICT',
    });
  }
});

test("returns NOT_FOUND for another tenant's org, and FORBIDDEN for a key", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const domain = createDomain();
  expect(
    await otherTenant.builder.expectRefusal(CLAIM_DOMAIN, createInput(domain, tenant.orgId)),
  ).toMatchObject({ code: 'NOT_FOUND' });
  expect(await tenant.expectRefusal(CLAIM_DOMAIN, createInput(domain, tenant.orgId))).toMatchObject(
    {
      code: 'FORBIDDEN',
    },
  );
  expect(
    (await tenant.query(LIST_CLAIMED_DOMAINS, { id: tenant.orgId })).org.claimedDomains.totalCount,
  ).toBe(0);
});

test('reports every invalid input', async () => {
  const { builder } = await app.createTenant();
  const { code, problem } = await builder.expectRefusal(CLAIM_DOMAIN, createInput('192.0.2.1', ''));
  expect(code).toBe('BAD_USER_INPUT');
  expect(problem.issues).toHaveLength(2);
  expect(problem.issues).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ in: 'body', name: 'input.domain', value: '192.0.2.1' }),
      expect.objectContaining({ in: 'body', name: 'input.parentId', value: '' }),
    ]),
  );
  expect(await builder.expectRefusal(GET_CLAIMED_DOMAIN, { domain: 'nonsense' })).toMatchObject({
    code: 'BAD_USER_INPUT',
    problem: { issues: [{ in: 'body', name: 'domain', value: 'nonsense' }] },
  });
});

test('returns a claim to its org, and to builders with a verified address of the domain', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const domain = createDomain();
  const { id } = await addClaim(tenant, domain);
  const reader = await tenant.withScopes('org:read');
  for (const caller of [tenant, tenant.builder, reader, await createBuilder(domain)]) {
    for (const form of [domain, `https://www.${domain}`, `eve@${domain}`]) {
      expect(await caller?.query(GET_CLAIMED_DOMAIN, { domain: form })).toEqual({
        claimedDomain: { id, domain },
      });
    }
    expect(await caller?.query(GET_NODE, { id })).toEqual({ node: { id } });
  }
  for (const caller of [otherTenant, otherTenant.builder, await createBuilder(`eu.${domain}`)]) {
    expect(await caller?.query(GET_CLAIMED_DOMAIN, { domain })).toEqual({ claimedDomain: null });
    expect(await caller?.query(GET_NODE, { id })).toEqual({ node: null });
  }
  expect(await tenant.query(GET_CLAIMED_DOMAIN, { domain: createDomain() })).toEqual({
    claimedDomain: null,
  });
});

test('returns FORBIDDEN for a key without org:read', async () => {
  const tenant = await app.createTenant();
  const key = await tenant.withScopes('read', 'org:write');
  expect(await key.expectRefusal(GET_CLAIMED_DOMAIN, { domain: createDomain() })).toMatchObject({
    code: 'FORBIDDEN',
  });
});

test("lists an org's domains newest first, in both directions", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const domains = [createDomain(), createDomain(), createDomain()];
  for (const domain of domains) await addClaim(tenant, domain);
  await addClaim(otherTenant, createDomain());
  const nodes = domains.toReversed().map((domain) => ({ domain }));

  const id = tenant.orgId;
  const firstPage = (await tenant.query(LIST_CLAIMED_DOMAINS, { id, first: 2 })).org.claimedDomains;
  expect(firstPage).toMatchObject({
    totalCount: 3,
    nodes: nodes.slice(0, 2),
    pageInfo: { hasNextPage: true, hasPreviousPage: false },
  });
  const after = firstPage.pageInfo.endCursor;
  expect(
    (await tenant.query(LIST_CLAIMED_DOMAINS, { id, first: 2, after })).org.claimedDomains,
  ).toMatchObject({
    nodes: nodes.slice(2),
    pageInfo: { hasNextPage: false, hasPreviousPage: true },
  });
  expect(
    (await tenant.query(LIST_CLAIMED_DOMAINS, { id, last: 1 })).org.claimedDomains.nodes,
  ).toEqual(nodes.slice(2));
});
