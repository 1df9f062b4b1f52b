/** Rules for the fields of provider apps, connections, operations and metadata. */
import { createFieldRules } from '../support/conformance/field-rules.ts';
import type { Fixture } from '../support/conformance/fixture.ts';
import { createMappedContact } from '../support/conformance/fixture-resources.ts';
import { queryNode } from '../support/conformance/graphql-field.ts';
import { optionalMember, requiredMember } from '../support/conformance/resource.ts';
import type { Section } from '../support/conformance/rule.ts';

const id = requiredMember('string');
const projectId = requiredMember('string', { graphql: 'project.id' });
const createTime = requiredMember('time');
const updateTime = optionalMember('time');

const providerApps: Section = {
  title: 'Provider apps',
  rules: createFieldRules({
    name: 'A provider app',
    schema: 'ProviderApp',
    type: 'ProviderApp',
    load: ({ resources }) => resources.providerApp(),
    fields: {
      id,
      projectId,
      provider: requiredMember('string'),
      clientId: requiredMember('string'),
      externalRef: optionalMember('string'),
      scopes: optionalMember('strings'),
      metadata: optionalMember('object'),
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
const selectCredential = (field: string) => ({ graphql: `credentials.${field}` });
const createTokenFields = (name: string) => {
  const token = `oauth2AuthorizationCode.${name}`;
  return {
    [token]: optionalMember('object', selectCredential(token)),
    [`${token}.token`]: optionalMember('string', selectCredential(`${token}.token`)),
    [`${token}.issuedAt`]: optionalMember('time', selectCredential(`${token}.issueTime`)),
    [`${token}.expiresAt`]: optionalMember('time', selectCredential(`${token}.expireTime`)),
  };
};

const connections: Section = {
  title: 'Connections',
  rules: [
    ...createFieldRules({
      name: 'A connection',
      schema: 'Connection',
      type: 'ConnectedAccount',
      load: ({ resources }) => resources.connection(),
      fields: {
        id,
        projectId,
        provider: requiredMember('string'),
        group: requiredMember('object'),
        consumer: requiredMember('object'),
        createTime,
        authScheme: requiredMember('string', { values: AUTH_SCHEMES }),
        status: requiredMember('string', { values: ['created', 'working', 'bad_credentials'] }),
        providerApp: optionalMember('object'),
        providerWorkspaceRef: optionalMember('string'),
        providerConsumerRef: optionalMember('string', { isUnset: true }),
        updateTime,
        oauth2AuthorizationCode: optionalMember(
          'object',
          selectCredential('oauth2AuthorizationCode'),
        ),
        ...createTokenFields('accessToken'),
        ...createTokenFields('refreshToken'),
        'oauth2AuthorizationCode.scopes': optionalMember(
          'strings',
          selectCredential('oauth2AuthorizationCode.scopes'),
        ),
        providerMetadata: optionalMember('object'),
      },
    }),
    ...createFieldRules({
      name: 'A connection with an API key',
      schema: 'Connection',
      type: 'ConnectedAccount',
      load: ({ resources }) => resources.keyConnection(),
      fields: { apiKey: optionalMember('string', selectCredential('apiKey')) },
    }),
  ],
};

const operations: Section = {
  title: 'Operations',
  rules: createFieldRules({
    name: 'An operation',
    schema: 'Operation',
    type: 'Operation',
    load: ({ resources }) => resources.operation(),
    fields: {
      id,
      projectId,
      integrationId: requiredMember('string'),
      installationId: requiredMember('string'),
      configId: requiredMember('string'),
      actionType: requiredMember('string'),
      status: requiredMember('string'),
      result: optionalMember('string'),
      metadata: optionalMember('object'),
      'metadata.objects': optionalMember('strings'),
      'metadata.progress': optionalMember('object'),
      'metadata.progress.installationId': optionalMember('string', { graphql: 'installationId' }),
      'metadata.progress.objectName': optionalMember('string'),
      'metadata.progress.operationId': optionalMember('string', { graphql: 'id' }),
      'metadata.progress.recordsProcessed': optionalMember('integer'),
      'metadata.progress.recordsEstimatedTotal': optionalMember('integer'),
      createTime,
    },
  }),
};

async function queryObjectMetadata({ tenant, installation: { id } }: Fixture, selected: string) {
  const selection = `objectMetadata(objectName: "contacts") { ${selected} }`;
  return (await queryNode(tenant, { id, type: 'Installation', selection })).objectMetadata;
}

/** Returns a field that has a list of values. */
const findFieldWithValues = (fields: { values?: unknown }[]) => fields.find(({ values }) => values);

const metadata: Section = {
  title: 'Object metadata',
  rules: [
    ...createFieldRules({
      name: 'Metadata of an installed object',
      schema: 'ObjectMetadata',
      type: 'ObjectMetadata',
      load: ({ resources }) => resources.objectMetadata(),
      queryGraphql: queryObjectMetadata,
      fields: {
        name: requiredMember('string'),
        displayName: optionalMember('string'),
        fields: requiredMember('object', { graphql: null }),
        mappedObjectName: optionalMember('string'),
      },
    }),
    ...createFieldRules({
      name: 'Metadata of a field',
      schema: 'FieldMetadata',
      type: 'FieldMetadata',
      load: async ({ resources }) =>
        findFieldWithValues(Object.values((await resources.objectMetadata()).fields)),
      async queryGraphql(fixture, selection) {
        const response = await queryObjectMetadata(
          fixture,
          `fields { values { value } ${selection} }`,
        );
        return findFieldWithValues(response.fields);
      },
      fields: {
        fieldName: optionalMember('string'),
        displayName: optionalMember('string'),
        valueType: optionalMember('string'),
        providerType: optionalMember('string'),
        readOnly: optionalMember('boolean'),
        isCustom: optionalMember('boolean'),
        isRequired: optionalMember('boolean'),
        values: optionalMember('objects'),
      },
    }),
  ],
};

const writes: Section = {
  title: 'Results of writes',
  rules: createFieldRules({
    name: 'The result of a write',
    schema: 'WriteResult',
    type: 'WriteRecordsPayload',
    load: ({ resources }) => resources.writeResult(),
    async queryGraphql({ tenant, createWriteInput }, selection) {
      const write = `mutation WriteRecords($input: WriteRecordsInput!) {
        writeRecords(input: $input) { ${selection} }
      }`;
      const input = createWriteInput({ type: 'CREATE', record: createMappedContact() });
      return (await tenant.query(write, { input })).writeRecords;
    },
    fields: {
      operationId: requiredMember('string'),
      result: optionalMember('object'),
      'result.success': optionalMember('boolean'),
      'result.recordId': optionalMember('string'),
      'result.data': optionalMember('object'),
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
