/** The bodies of requests about provider apps and connections, field by field. */
import { PROVIDER_APP, TOKENS } from '../support/conformance/accounts.ts';
import { type Json, needed, optional } from '../support/conformance/body.ts';
import { bodyRules } from '../support/conformance/body-rules.ts';
import type { Rule, Section } from '../support/conformance/rule.ts';
import type { Scene } from '../support/conformance/scene.ts';

const ofApps: Section = {
  title: 'Bodies of provider apps',
  rules: [
    ...bodyRules({
      name: 'A new provider app',
      send: ({ ask, base }, body) => ask('POST', `${base}/provider-apps`, body),
      mutation: 'createProviderApp',
      whole: () => ({ ...PROVIDER_APP, provider: 'hubspot' }),
      fields: {
        provider: needed('string'),
        clientId: needed('string'),
        clientSecret: needed('string'),
        externalRef: optional('string'),
        scopes: optional('strings'),
        metadata: optional('object'),
        'metadata.authQueryParams': optional('object'),
        'metadata.providerParams': optional('object'),
        'metadata.providerParams.packageInstallURL': optional('string'),
        'metadata.providerParams.gcpProjectId': optional('string'),
        'metadata.providerParams.gcpPubSubTopicName': optional('string'),
      },
    }),
    ...bodyRules({
      name: 'A change of a provider app',
      send: async ({ ask, base, made }, body) =>
        ask('PATCH', `${base}/provider-apps/${(await made.otherApp()).id}`, body),
      mutation: 'updateProviderApp',
      beside: async ({ tenant, made }) => ({
        projectIdOrName: tenant.projectName,
        providerAppId: (await made.otherApp()).id,
      }),
      whole: () => ({ updateMask: ['externalRef'], providerApp: { externalRef: '44' } }),
      fields: { updateMask: needed('strings'), providerApp: needed('object') },
    }),
  ],
};

const account = ({ fresh }: Scene) => ({
  groupRef: fresh('group'),
  consumerRef: 'ann',
  provider: 'sandbox',
  groupName: 'A group',
  consumerName: 'Ann',
  providerWorkspaceRef: 'workspace-1',
  providerMetadata: { region: { value: 'eu', source: 'input' } },
});
const having = (given: Json) => (scene: Scene) => ({ ...account(scene), ...given });
const client = { clientId: 'client', clientSecret: 'sandbox-secret-planted' };

const connection = (fields: Parameters<typeof bodyRules>[0]['fields']): Rule[] =>
  bodyRules({
    name: 'A new connection',
    send: ({ ask, base }, body) => ask('POST', `${base}/connections:generate`, body),
    mutation: 'generateConnection',
    whole: having({ apiKey: 'sandbox-key' }),
    fields,
  });

const basicAuth = { username: 'ann', password: 'sandbox-password-planted' };
const withBasic = having({ basicAuth });
/** An account has one kind of credentials at a time. */
const credentials = (given: Json) =>
  optional('object', { body: having(given), instead: withBasic });

const ofConnections: Section = {
  title: 'Bodies of connections',
  rules: connection({
    groupRef: needed('string'),
    consumerRef: needed('string'),
    provider: needed('string'),
    providerWorkspaceRef: optional('string'),
    providerMetadata: optional('object'),
    groupName: optional('string'),
    consumerName: optional('string'),
    apiKey: optional('string', { instead: withBasic }),
    customAuth: credentials({ customAuth: { accountKey: 'sandbox-key-a' } }),
    basicAuth: optional('object', { body: withBasic, instead: having({ apiKey: 'sandbox-key' }) }),
    oauth2ClientCredentials: credentials({ oauth2ClientCredentials: client }),
    oauth2PasswordCredentials: credentials({
      oauth2PasswordCredentials: { ...client, ...basicAuth },
    }),
    oauth2AuthorizationCode: credentials({ oauth2AuthorizationCode: TOKENS }),
    'oauth2AuthorizationCode.scopes': optional('strings', {
      body: having({ oauth2AuthorizationCode: TOKENS }),
    }),
  }),
};

export const bodiesOfConnecting: Section[] = [ofApps, ofConnections];
