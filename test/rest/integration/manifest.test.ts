/** Revisions that are given as the text of a manifest. */
import { expect, test } from 'vitest';
import { sharedApp } from '../../support/app.ts';
import { type RestTenant, restTenant } from '../../support/rest/rest-client.ts';
import { createIntegration } from '../../support/rest/rest-installation.ts';
import { contentFor, insertDestination } from '../../support/scenes/integrations.ts';

const app = await sharedApp();

const integration = (name: string, object = 'contacts') => `
  - name: ${name}
    provider: sandbox
    read:
      objects:
        - objectName: ${object}
          destination: records
          schedule: "0 * * * *"
          requiredFields:
            - fieldName: email
              mapToName: mail
`;
const manifest = (...integrations: string[]) =>
  `specVersion: 1.0.0\nintegrations:${integrations.join('')}`;

async function prepare(): Promise<{ rest: RestTenant; path: string; revisions: string }> {
  const rest = await restTenant(app);
  await insertDestination(app, rest.tenant);
  const path = await createIntegration(rest, contentFor('crm'));
  return { rest, path, revisions: `${path}/revisions` };
}

test('the integration of the name is the new revision, or the only one there is', async () => {
  const { rest, path, revisions } = await prepare();
  const sourceYaml = manifest(integration('other', 'deals'), integration('crm'));
  await rest.post(revisions, { sourceYaml });
  const { id, latestRevision } = await rest.get(path);
  expect(latestRevision).toMatchObject({
    specVersion: '1.0.0',
    content: {
      name: 'crm',
      read: {
        objects: [
          { objectName: 'contacts', requiredFields: [{ fieldName: 'email', mapToName: 'mail' }] },
        ],
      },
    },
  });
  const byId = `${rest.base}/integrations/${id}/revisions`;
  await rest.post(byId, { sourceYaml: manifest(integration('crm')) });
  expect(await rest.get(revisions)).toHaveLength(3);
});

test('a text that is no manifest of the integration is refused, and so is a file elsewhere', async () => {
  const { rest, revisions } = await prepare();
  const refused = async (body: object) => {
    const { status, issues } = await rest.refusal('POST', revisions, body);
    return [status, issues?.map(({ name }) => name)];
  };
  const bomb = `a: &a [x, x]\n${Array.from({ length: 200 }, (_, at) => `b${at}: [*a, *a]`).join('\n')}`;
  for (const sourceYaml of [
    'specVersion: [',
    'just a text',
    'specVersion: 1.0.0\nintegrations: []',
    manifest(integration('a'), integration('b')),
    bomb,
  ]) {
    expect(await refused({ sourceYaml })).toEqual([400, ['sourceYaml']]);
  }
  const sourceYaml = manifest(integration('crm'));
  expect(await refused({ sourceYaml, revision: {} })).toEqual([400, ['sourceYaml']]);
  expect(await refused({ sourceZipUrl: 'https://builder.test/a.zip' })).toEqual([
    400,
    ['sourceZipUrl'],
  ]);
  expect(await refused({})).toEqual([400, ['revision']]);
  const [status, names] = await refused({ sourceYaml: manifest(integration('crm', 'nothing')) });
  expect([status, names]).toEqual([400, ['revision.content.read.objects[0].objectName']]);
});
