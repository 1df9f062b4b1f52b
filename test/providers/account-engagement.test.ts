/** Tests that Salesforce's module with its own base URL fulfills the provider contract. */
import { expect, test } from 'vitest';
import {
  applyModule,
  findModule,
  findProxyProvider,
  getModules,
} from '../../src/providers/modules.ts';
import { createSalesforceProvider } from '../../src/providers/salesforce/salesforce-provider.ts';
import { createPlainSession } from '../support/providers/provider-session.ts';
import { accountEngagement } from '../support/wire/account-engagement.ts';
import { startVendorServer } from '../support/wire/vendor-server.ts';
import { TOKEN } from '../support/wire/wire-format.ts';
import { testProviderContract } from './contract.ts';
import type { ContractSubject } from './contract-subject.ts';
import { createServerControls } from './declared/wire-subject.ts';

const MODULE_NAME = 'account-engagement';

testProviderContract(MODULE_NAME, async (): Promise<ContractSubject> => {
  const { fixture, metadata, ...vendor } = accountEngagement;
  const server = await startVendorServer(fixture);
  const provider = applyModule(
    createSalesforceProvider({ engagementUrl: server.url }),
    MODULE_NAME,
  );
  if (!provider) throw new Error('Salesforce has no such module.');
  return {
    ...vendor,
    provider: { ...provider, objects: [vendor.objectName] },
    session: createPlainSession(provider.baseUrl, fixture.headers, { metadata }),
    secret: TOKEN,
    createValidRecord: (text) => ({ firstName: text }),
    invalidRecord: { firstName: 'x'.repeat(201) },
    pageSizeMin: 2,
    hasChangeTimes: true,
    isDescribedWithoutRequest: true,
    ...createServerControls(server),
  };
});

test('returns a single module for a provider without modules', () => {
  const { modules: _modules, ...provider } = createSalesforceProvider();
  const { displayName, baseUrl } = provider;
  expect(getModules(provider)).toEqual([{ name: 'root', displayName, baseUrl }]);
  expect(applyModule(provider, 'root')).toBe(provider);
  expect(applyModule(provider, 'crm')).toBeNull();
});

test("uses the first module by default, and another module's URL only on request", () => {
  const provider = createSalesforceProvider();
  expect(findModule(provider, null)?.name).toBe('crm');
  expect(applyModule(provider, null)).toBe(provider);
  const findUrl = (useModule: boolean) =>
    findProxyProvider(provider, { module: MODULE_NAME, useModule })?.baseUrl;
  expect([findUrl(false), findUrl(true)]).toEqual([provider.baseUrl, 'https://pi.pardot.com']);
});
