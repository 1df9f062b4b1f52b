/** An operator sets entitlements and billing accounts, which the API and the pages of an OAuth flow show. */
import { expect, test } from 'vitest';
import {
  setBillingAccount,
  setEntitlements,
} from '../../src/domain/tenants/org/billing-account.ts';
import { getSharedApp } from '../support/app.ts';
import { createProviderApp, START_CONNECT } from '../support/providers/oauth.ts';
import { createOAuthBrowser } from '../support/providers/oauth-browser.ts';
import { createRestTenant } from '../support/rest/rest-client.ts';

const app = await getSharedApp();
const { database } = app.app.services;

const BRAND = 'Connected by Integration gateway';

test('returns the entitlements and the billing account that the operator set', async () => {
  const { tenant, get } = await createRestTenant(app);
  const { projectId, orgId } = tenant;
  await setEntitlements(database, tenant.projectName, { brandingRemoval: true });
  const billing = { billingProvider: 'stripe', billingProviderRef: 'cus_1' };
  await setBillingAccount(database, orgId, billing);
  const { project } = await tenant.query(
    `query Project($id: String!) { project(idOrName: $id) { entitlements { brandingRemoval { value } }
      org { billingAccount { billingProvider billingProviderRef updateTime } } } }`,
    { id: projectId },
  );
  expect(project.entitlements).toEqual({ brandingRemoval: { value: true } });
  expect(project.org.billingAccount).toEqual({ ...billing, updateTime: expect.any(String) });
  const response = await get(`/projects/${tenant.projectName}?includeEntitlements=true`);
  expect(response.entitlements).toEqual({ brandingRemoval: { value: true } });
  expect(await get(`/orgs/${orgId}/billingAccount`)).toMatchObject(billing);
});

test("shows the gateway's name on the pages of an OAuth flow unless the billing plan removes it", async () => {
  const { tenant } = await createRestTenant(app);
  await createProviderApp(tenant);
  const consumer = { provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann' };
  const input = { projectIdOrName: tenant.projectId, ...consumer };
  const openCallback = async (isApproved: boolean) => {
    const { startOAuthConnect } = await tenant.query(START_CONNECT, { input });
    return (
      await createOAuthBrowser(app).connect(startOAuthConnect.authorizeUrl, isApproved)
    ).text();
  };
  const openLinkPage = async () => {
    const { startOAuthConnect } = await tenant.query(START_CONNECT, { input });
    return (await createOAuthBrowser(app).send(startOAuthConnect.authorizeUrl)).text();
  };
  for (const isApproved of [true, false]) expect(await openCallback(isApproved)).toContain(BRAND);
  expect(await openLinkPage()).toContain(BRAND);
  await setEntitlements(database, tenant.projectId, { brandingRemoval: true });
  expect(await openLinkPage()).not.toContain('Integration gateway');
  for (const isApproved of [true, false]) {
    const page = await openCallback(isApproved);
    expect(page).not.toContain('Integration gateway');
    expect(page).toMatch(/<header>.+<\/header>/);
  }
});
