/** Microsoft Dynamics 365: an OData v4 API. */
import { MICROSOFT_TOKENS } from '../../catalog/microsoft-tokens.ts';
import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

/** Declares an OData v4 entity set, whose name is a plural. The key of its records contains the singular. */
function declareObject(displayName: string, set: string, singular: string): ObjectDeclarationInput {
  const path = `/v9.2/${set}`;
  const recordPath = `${path}({id})`;
  return {
    displayName,
    id: `/${singular}id`,
    changedAt: { at: '/modifiedon', format: 'isoSeconds' },
    list: {
      path,
      // The vendor's pages are only stable if the order is unique.
      query: { $orderby: `modifiedon asc,${singular}id asc` },
      records: '/value',
      pageSize: { in: 'header', name: 'Prefer', template: 'odata.maxpagesize={size}', max: 5000 },
      paging: { kind: 'nextUrl', next: '/@odata.nextLink' },
      since: {
        in: 'query',
        name: '$filter',
        format: 'isoSeconds',
        template: 'modifiedon ge {time}',
      },
      until: {
        in: 'query',
        name: '$filter',
        format: 'isoSeconds',
        template: 'modifiedon le {time}',
      },
      filterExpression: { separator: ' and ' },
      equalityFilter: {
        in: 'query',
        name: '$filter',
        template: '{field} eq {value}',
        quoting: 'odata',
      },
      selectedFields: {
        in: 'query',
        name: '$select',
        always: [`${singular}id`, 'modifiedon'],
        returnsAllByDefault: true,
      },
    },
    byIds: { path: recordPath, records: '' },
    create: {
      method: 'POST',
      path,
      headers: { Prefer: 'return=representation' },
      responseRecord: '',
    },
    // If-Match prevents an update of a deleted record from creating a new one.
    update: {
      method: 'PATCH',
      path: recordPath,
      headers: { Prefer: 'return=representation', 'If-Match': '*' },
      responseRecord: '',
    },
    remove: { path: recordPath },
    fieldList: {
      path: `/v9.2/EntityDefinitions(LogicalName='${singular}')/Attributes`,
      fields: '/value',
      name: '/LogicalName',
      displayName: '/DisplayName/UserLocalizedLabel/Label',
      type: '/AttributeTypeName/Value',
      isCustom: '/IsCustomAttribute',
      isWritable: '/IsValidForUpdate',
      types: {
        StringType: 'STRING',
        MemoType: 'STRING',
        UniqueidentifierType: 'STRING',
        IntegerType: 'INT',
        BigIntType: 'INT',
        DecimalType: 'FLOAT',
        DoubleType: 'FLOAT',
        MoneyType: 'FLOAT',
        BooleanType: 'BOOLEAN',
        DateTimeType: 'DATETIME',
        LookupType: 'REFERENCE',
        OwnerType: 'REFERENCE',
        CustomerType: 'REFERENCE',
      },
    },
  };
}

const WEB_API_URL_GUIDE =
  'https://learn.microsoft.com/en-us/power-apps/developer/data-platform/webapi/compose-http-requests-handle-errors?view=dataverse-latest#web-api-url-and-versions';

export const dynamicsCrm: DeclaredProvider = {
  name: 'dynamicsCRM',
  displayName: 'Microsoft Dynamics 365 CRM',
  baseUrl: 'https://{{workspace}}.api.{{region}}.dynamics.com/api/data',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE', 'OAUTH2_AUTHORIZATION_CODE_PKCE'],
  oauth2: {
    authorizeUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    tokenUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    ...MICROSOFT_TOKENS,
    explicitScopesRequired: true,
    tokenFields: { scopes: 'scope' },
  },
  healthCheck: '/v9.2/WhoAmI',
  workspaceRequired: true,
  workspaceDisplayName: 'Web API environment',
  workspaceHelp: {
    prompt:
      'Copy the environment name (e.g. `org123456`) from your Web API endpoint URL. It appears right after `https://` and before `.api.`',
    docsUrl: WEB_API_URL_GUIDE,
  },
  api: {
    apiVersion: 'v9.2',
    docsUrl: 'https://learn.microsoft.com/power-apps/developer/data-platform/webapi/overview',
    checkedAgainst:
      "the vendor's Web API guides on queries, paging, order, URL lengths, limits and writes, and OData v4",
    notes: [
      'Lookup fields are read as `_name_value` and written as `name@odata.bind`.',
      "Events are not supported: they require several processing steps in the customer's environment.",
    ],
    scopes: ['offline_access'],
    inputs: {
      region: {
        displayName: 'Region',
        prompt:
          'Copy the region (e.g. `crm4`) from your Web API endpoint URL. It appears right after `.api.` and before `.dynamics.com`',
        docsUrl: WEB_API_URL_GUIDE,
        defaultValue: 'crm',
      },
    },
    headers: { 'OData-Version': '4.0', 'OData-MaxVersion': '4.0' },
    errors: { messages: ['/error/message'] },
    behavior: {
      shortPage: 'notDocumented',
      timeFilter: {
        precision: 'format',
        zone: 'utc',
        bounds: 'inclusive',
        column: 'changedAt',
      },
      visibility: 'notDocumented',
      expiredCursor: 'notDocumented',
      // Only numbered pages end at 50,000 records. Links contain a cookie, which has no such limit.
      depthLimit: 'none',
      fieldsMax: 'notDocumented',
      urlBytesMax: 32_768,
      // Related records are not expanded, and columns have one value.
      nestedLists: 'complete',
      rateLimits: 'status429',
    },
    objects: {
      contacts: declareObject('Contacts', 'contacts', 'contact'),
      accounts: declareObject('Accounts', 'accounts', 'account'),
      leads: declareObject('Leads', 'leads', 'lead'),
      opportunities: declareObject('Opportunities', 'opportunities', 'opportunity'),
      incidents: declareObject('Cases', 'incidents', 'incident'),
    },
  },
};
