import { expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { createEndUser } from '../../../support/fixtures/end-users.ts';

const app = await getSharedApp();
const UPDATE_PROJECT = `mutation UpdateProject($input: UpdateProjectInput!) {
  updateProject(input: $input) { project { appName logoUrl accentColor locale } }
}`;
const BRANDING = {
  logoUrl: 'https://cdn.example.com/logo.svg?v=2',
  accentColor: '#AA33ff',
  locale: 'de-at',
};
const STORED_BRANDING = { ...BRANDING, accentColor: '#aa33ff', locale: 'de-AT' };

async function updateProject({ projectId, query }: Tenant, changes: object) {
  const input = { projectIdOrName: projectId, ...changes };
  return (await query(UPDATE_PROJECT, { input })).updateProject.project;
}

test('sets, keeps and clears the appearance of the connect page', async () => {
  const tenant = await app.createTenant();
  expect(await updateProject(tenant, BRANDING)).toMatchObject(STORED_BRANDING);
  expect(await updateProject(tenant, { appName: 'Renamed' })).toEqual({
    appName: 'Renamed',
    ...STORED_BRANDING,
  });
  const user = await createEndUser(app, tenant);
  const { viewer } = await user.query('{ viewer { project { logoUrl accentColor locale } } }');
  expect(viewer.project).toEqual(STORED_BRANDING);
  const cleared = { logoUrl: null, accentColor: null, locale: null };
  expect(await updateProject(tenant, cleared)).toMatchObject(cleared);
});

test('reports every invalid member', async () => {
  const tenant = await app.createTenant();
  const { code, problem } = await tenant.expectRefusal(UPDATE_PROJECT, {
    input: {
      projectIdOrName: tenant.projectId,
      logoUrl: 'http://cdn.example.com/logo.svg',
      accentColor: '#fff',
      locale: 'de_AT',
    },
  });
  expect(code).toBe('BAD_USER_INPUT');
  expect(problem.issues?.map(({ name, detail }) => [name, detail])).toEqual([
    ['input.logoUrl', 'must be an https URL.'],
    ['input.accentColor', 'must be a color like #4f46e5: a # and six hexadecimal digits.'],
    ['input.locale', 'must be a BCP 47 language tag, like en-GB or de.'],
  ]);
});

test.each([
  'https://ada@cdn.example.com/logo.svg',
  'https://a;sandbox.example.com/logo.svg',
  "https://'self'.example.com/logo.svg",
  'https://*.example.com/logo.svg',
])('refuses the logo %s, whose host a content security policy would read', async (logoUrl) => {
  const tenant = await app.createTenant();
  const input = { projectIdOrName: tenant.projectId, logoUrl };
  const { problem } = await tenant.expectRefusal(UPDATE_PROJECT, { input });
  expect(problem.issues).toEqual([expect.objectContaining({ name: 'input.logoUrl' })]);
});

test('changes no project of another tenant', async () => {
  const tenant = await app.createTenant();
  const otherTenant = await app.createTenant();
  const input = { projectIdOrName: tenant.projectId, ...BRANDING };
  expect((await otherTenant.expectRefusal(UPDATE_PROJECT, { input })).code).toBe('NOT_FOUND');
});
