/** The resources of accounts at providers, and of operations there, field by field. */
import { fieldRules } from '../support/conformance/field-rules.ts';
import { nodeOf } from '../support/conformance/graphql-field.ts';
import { mappedContact } from '../support/conformance/makings.ts';
import { always, maybe } from '../support/conformance/resource.ts';
import type { Section } from '../support/conformance/rule.ts';
import type { Scene } from '../support/conformance/scene.ts';

const id = always('string');
const projectId = always('string', { graphql: 'project.id' });
const createTime = always('time');
const updateTime = maybe('time');

const providerApps: Section = {
  title: 'Provider apps',
  rules: fieldRules({
    name: 'A provider app',
    schema: 'ProviderApp',
    type: 'ProviderApp',
    shown: ({ made }) => made.providerApp(),
    fields: {
      id,
      projectId,
      provider: always('string'),
      clientId: always('string'),
      externalRef: maybe('string'),
      scopes: maybe('strings'),
      metadata: maybe('object'),
      createTime,
      updateTime,
    },
  }),
};

const AUTH_SCHEMES = [
  'none',
  'apiKey',
  'basic',
  'oauth2/authorizationCode',
  'oauth2/authorizationCodePKCE',
  'oauth2/clientCredentials',
  'oauth2/password',
];
const inCredentials = (field: string) => ({ graphql: `credentials.${field}` });
const tokenFields = (name: string) => {
  const token = `oauth2AuthorizationCode.${name}`;
  return {
    [token]: maybe('object', inCredentials(token)),
    [`${token}.token`]: maybe('string', inCredentials(`${token}.token`)),
    [`${token}.issuedAt`]: maybe('time', inCredentials(`${token}.issuedAt`)),
    [`${token}.expiresAt`]: maybe('time', inCredentials(`${token}.expiresAt`)),
  };
};

const connections: Section = {
  title: 'Connections',
  rules: [
    ...fieldRules({
      name: 'A connection',
      schema: 'Connection',
      type: 'ConnectedAccount',
      shown: ({ made }) => made.connection(),
      fields: {
        id,
        projectId,
        provider: always('string'),
        group: always('object'),
        consumer: always('object'),
        createTime,
        authScheme: always('string', { oneOf: AUTH_SCHEMES }),
        status: always('string', { oneOf: ['created', 'working', 'bad_credentials'] }),
        providerApp: maybe('object'),
        providerWorkspaceRef: maybe('string'),
        providerConsumerRef: maybe('string', { isUnset: true }),
        updateTime,
        oauth2AuthorizationCode: maybe('object', inCredentials('oauth2AuthorizationCode')),
        ...tokenFields('accessToken'),
        ...tokenFields('refreshToken'),
        'oauth2AuthorizationCode.scopes': maybe(
          'strings',
          inCredentials('oauth2AuthorizationCode.scopes'),
        ),
        providerMetadata: maybe('object'),
      },
    }),
    ...fieldRules({
      name: 'A connection with an API key',
      schema: 'Connection',
      type: 'ConnectedAccount',
      shown: ({ made }) => made.keyConnection(),
      fields: { apiKey: maybe('string', inCredentials('apiKey')) },
    }),
  ],
};

const operations: Section = {
  title: 'Operations',
  rules: fieldRules({
    name: 'An operation',
    schema: 'Operation',
    type: 'Operation',
    shown: ({ made }) => made.operation(),
    fields: {
      id,
      projectId,
      integrationId: always('string'),
      installationId: always('string'),
      configId: always('string'),
      actionType: always('string'),
      status: always('string'),
      result: maybe('string'),
      metadata: maybe('object'),
      'metadata.objects': maybe('strings'),
      'metadata.progress': maybe('object'),
      'metadata.progress.installationId': maybe('string', { graphql: 'installationId' }),
      'metadata.progress.objectName': maybe('string'),
      'metadata.progress.operationId': maybe('string', { graphql: 'id' }),
      'metadata.progress.recordsProcessed': maybe('integer'),
      'metadata.progress.recordsEstimatedTotal': maybe('integer'),
      createTime,
    },
  }),
};

async function metadataByGraphql({ tenant, installation: { id } }: Scene, selected: string) {
  const selection = `objectMetadata(objectName: "contacts") { ${selected} }`;
  return (await nodeOf(tenant, { id, type: 'Installation', selection })).objectMetadata;
}

/** A field with values to choose from. */
const chosen = (fields: { values?: unknown }[]) => fields.find(({ values }) => values);

const metadata: Section = {
  title: 'Object metadata',
  rules: [
    ...fieldRules({
      name: 'Metadata of an installed object',
      schema: 'ObjectMetadata',
      type: 'ObjectMetadata',
      shown: ({ made }) => made.objectMetadata(),
      shownByGraphql: metadataByGraphql,
      fields: {
        name: always('string'),
        displayName: maybe('string'),
        fields: always('object', { graphql: null }),
        mappedObjectName: maybe('string'),
      },
    }),
    ...fieldRules({
      name: 'Metadata of a field',
      schema: 'FieldMetadata',
      type: 'FieldMetadata',
      shown: async ({ made }) => chosen(Object.values((await made.objectMetadata()).fields)),
      async shownByGraphql(scene, selection) {
        const found = await metadataByGraphql(scene, `fields { values { value } ${selection} }`);
        return chosen(found.fields);
      },
      fields: {
        fieldName: maybe('string'),
        displayName: maybe('string'),
        valueType: maybe('string'),
        providerType: maybe('string'),
        readOnly: maybe('boolean'),
        isCustom: maybe('boolean'),
        isRequired: maybe('boolean'),
        values: maybe('objects'),
      },
    }),
  ],
};

const writes: Section = {
  title: 'Results of writes',
  rules: fieldRules({
    name: 'The result of a write',
    schema: 'WriteResult',
    type: 'WriteRecordsPayload',
    shown: ({ made }) => made.writeResult(),
    async shownByGraphql({ tenant, graphqlWrite }, selection) {
      const write = `mutation ($input: WriteRecordsInput!) {
        writeRecords(input: $input) { ${selection} }
      }`;
      const input = graphqlWrite({ type: 'CREATE', record: mappedContact() });
      return (await tenant.query(write, { input })).writeRecords;
    },
    fields: {
      operationId: always('string'),
      result: maybe('object'),
      'result.success': maybe('boolean'),
      'result.recordId': maybe('string'),
      'result.data': maybe('object'),
    },
  }),
};

export const resourcesAtProviders: Section[] = [
  providerApps,
  connections,
  operations,
  metadata,
  writes,
];
