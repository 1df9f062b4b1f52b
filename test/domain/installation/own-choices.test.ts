import { expect, test } from 'vitest';
import { installationConfigInput } from '../../../src/domain/installation/installation-config.ts';
import { withOwnChoices } from '../../../src/domain/installation/own-choices.ts';
import { integrationContentInput } from '../../../src/domain/integration/integration-content-input.ts';
import { createCatalogue } from '../../../src/domain/provider/catalogue.ts';
import { DECLARED } from '../../../src/providers/declared/all.ts';
import { contentFor } from '../../support/scenes/integrations.ts';

const catalogue = createCatalogue(DECLARED);

function chosenFor(stored: string): string[] {
  const [contacts] = contentFor().read.objects;
  const read = { objects: [{ ...contacts, objectName: stored }] };
  const content = integrationContentInput.parse(contentFor('crm', { provider: 'zoho', read }));
  const config = installationConfigInput.parse({ read: [{ objectName: 'contacts' }] });
  return withOwnChoices({ catalogue }, config, content).read.map(({ objectName }) => objectName);
}

test('replaces an alias in a config with the name in the revision', () => {
  expect(chosenFor('Contacts')).toEqual(['Contacts']);
});

test('keeps an alias that is also a name in the revision', () => {
  expect(chosenFor('contacts')).toEqual(['contacts']);
});
