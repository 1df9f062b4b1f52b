import { expect, test } from 'vitest';
import { createCatalog } from '../../../../src/domain/access/catalog.ts';
import { installationConfigInput } from '../../../../src/domain/integrations/installation/choice/installation-config-input.ts';
import { resolveObjectAliases } from '../../../../src/domain/integrations/installation/installation-input.ts';
import { integrationContentInput } from '../../../../src/domain/integrations/integration/integration-content-input.ts';
import { DECLARED } from '../../../../src/providers/declared/all.ts';
import { createIntegrationContent } from '../../../support/fixtures/integrations.ts';

const catalog = createCatalog(DECLARED);

function resolveContacts(nameInRevision: string): string[] {
  const [contacts] = createIntegrationContent().read.objects;
  const read = { objects: [{ ...contacts, objectName: nameInRevision }] };
  const content = integrationContentInput.parse(
    createIntegrationContent('crm', { provider: 'zoho', read }),
  );
  const config = installationConfigInput.parse({ read: [{ objectName: 'contacts' }] });
  return resolveObjectAliases({ catalog }, config, content).read.map(
    ({ objectName }) => objectName,
  );
}

test('replaces an alias in a config with the name in the revision', () => {
  expect(resolveContacts('Contacts')).toEqual(['Contacts']);
});

test('keeps an alias that is also a name in the revision', () => {
  expect(resolveContacts('contacts')).toEqual(['contacts']);
});
