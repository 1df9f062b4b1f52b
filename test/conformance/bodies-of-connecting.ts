/** Rules for the fields of requests about provider apps and connections. */
import { OAUTH_CLIENT, PROVIDER_APP, TOKENS } from '../support/conformance/accounts.ts';
import { type Json, optionalField, requiredField } from '../support/conformance/body.ts';
import { createBodyRules } from '../support/conformance/body-rules.ts';
import type { Fixture } from '../support/conformance/fixture.ts';
import type { Rule, Section } from '../support/conformance/rule.ts';

const providerAppBodies: Section = {
  title: 'Bodies of provider apps',
  rules: [
    ...createBodyRules({
      name: 'A new provider app',
      send: ({ request, base }, body) => request('POST', `${base}/provider-apps`, body),
      mutation: 'createProviderApp',
      createCompleteBody: () => ({ ...PROVIDER_APP, provider: 'hubspot' }),
      fields: {
        provider: requiredField('string'),
        clientId: requiredField('string'),
        clientSecret: requiredField('string'),
        externalRef: optionalField('string'),
        scopes: optionalField('strings'),
        metadata: optionalField('object'),
        'metadata.authQueryParams': optionalField('object'),
        'metadata.providerParams': optionalField('object'),
        'metadata.providerParams.packageInstallURL': optionalField('string'),
        'metadata.providerParams.gcpProjectId': optionalField('string'),
        'metadata.providerParams.gcpPubSubTopicName': optionalField('string'),
      },
    }),
    ...createBodyRules({
      name: 'A change of a provider app',
      send: async ({ request, base, resources }, body) =>
        request('PATCH', `${base}/provider-apps/${(await resources.unusedProviderApp()).id}`, body),
      mutation: 'updateProviderApp',
      extraInput: async ({ tenant, resources }) => ({
        projectIdOrName: tenant.projectName,
        providerAppId: (await resources.unusedProviderApp()).id,
      }),
      createCompleteBody: () => ({
        updateMask: ['externalRef'],
        providerApp: { externalRef: '44' },
      }),
      fields: { updateMask: requiredField('strings'), providerApp: requiredField('object') },
    }),
  ],
};

const createAccount = ({ createUniqueName }: Fixture) => ({
  groupRef: createUniqueName('group'),
  consumerRef: 'ann',
  provider: 'sandbox',
  groupName: 'A group',
  consumerName: 'Ann',
  providerWorkspaceRef: 'workspace-1',
  providerMetadata: { region: { value: 'eu', source: 'input' } },
});
const createAccountWith = (overrides: Json) => (fixture: Fixture) => ({
  ...createAccount(fixture),
  ...overrides,
});

const createConnectionRules = (fields: Parameters<typeof createBodyRules>[0]['fields']): Rule[] =>
  createBodyRules({
    name: 'A new connection',
    send: ({ request, base }, body) => request('POST', `${base}/connections:generate`, body),
    mutation: 'generateConnection',
    createCompleteBody: createAccountWith({ apiKey: 'sandbox-key' }),
    fields,
  });

const basicAuth = { username: 'ann', password: 'sandbox-password-planted' };
const createBasicAccount = createAccountWith({ basicAuth });
/** Returns a rule for a kind of credentials, which replaces the other kinds because an account has one kind only. */
const createCredentialField = (credentialMembers: Json) =>
  optionalField('object', {
    createWith: createAccountWith(credentialMembers),
    createWithout: createBasicAccount,
  });

const connectionBodies: Section = {
  title: 'Bodies of connections',
  rules: createConnectionRules({
    groupRef: requiredField('string'),
    consumerRef: requiredField('string'),
    provider: requiredField('string'),
    providerWorkspaceRef: optionalField('string'),
    providerMetadata: optionalField('object'),
    groupName: optionalField('string'),
    consumerName: optionalField('string'),
    apiKey: optionalField('string', { createWithout: createBasicAccount }),
    customAuth: createCredentialField({ customAuth: { accountKey: 'sandbox-key-a' } }),
    basicAuth: optionalField('object', {
      createWith: createBasicAccount,
      createWithout: createAccountWith({ apiKey: 'sandbox-key' }),
    }),
    oauth2ClientCredentials: createCredentialField({ oauth2ClientCredentials: OAUTH_CLIENT }),
    oauth2PasswordCredentials: createCredentialField({
      oauth2PasswordCredentials: { ...OAUTH_CLIENT, ...basicAuth },
    }),
    oauth2AuthorizationCode: createCredentialField({ oauth2AuthorizationCode: TOKENS }),
    'oauth2AuthorizationCode.scopes': optionalField('strings', {
      createWith: createAccountWith({ oauth2AuthorizationCode: TOKENS }),
    }),
  }),
};

export const bodiesOfConnecting: Section[] = [providerAppBodies, connectionBodies];
