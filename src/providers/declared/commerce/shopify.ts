/** Shopify: a GraphQL API with Relay lists. */
import type {
  ObjectDeclarationInput,
  StandardFields,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';
import { declareRelayList } from '../relay-list.ts';

const VERSION = '2025-10';
const PATH = `/admin/api/${VERSION}/graphql.json`;
const TIME_FILTER = { in: 'body', name: '/variables/query', format: 'isoSeconds' } as const;

const COMMON_FIELDS: StandardFields = {
  id: 'STRING',
  createdAt: 'DATETIME',
  updatedAt: 'DATETIME',
};

/** The name of a mutation's argument for the record, and its GraphQL type. */
interface RecordArgument {
  name: string;
  type: string;
}

interface ShopifyObject {
  singular: string;
  plural: string;
  create: RecordArgument;
  update: RecordArgument;
  /** The mutation that deletes a record. */
  remove: {
    /** The name of its only argument. */
    argument: string;
    variable: { name: string; type: string };
    /** The location of the record's id in the request. */
    idLocation: string;
    resultMember: string;
  };
}

/** Declares an object. Its mutations are named after the singular, such as `productCreate`. */
function declareObject(
  displayName: string,
  { singular, plural, create, update, remove }: ShopifyObject,
  standardFields: StandardFields,
): ObjectDeclarationInput {
  const fields = Object.keys(standardFields);
  const type = singular.charAt(0).toUpperCase() + singular.slice(1);
  const formatMutation = (verb: string, argument: RecordArgument) =>
    `mutation ($input: ${argument.type}!) { ${singular}${verb}(${argument.name}: $input) {
      ${singular} { ${fields.join(' ')} } userErrors { field message } } }`;
  const locateResponse = (verb: string) => ({
    responseRecord: `/data/${singular}${verb}/${singular}`,
    refusalReasons: `/data/${singular}${verb}/userErrors`,
  });
  const { argument, variable, idLocation, resultMember } = remove;
  const deleteMutation = `mutation ($${variable.name}: ${variable.type}!) { ${singular}Delete(${argument}: $${variable.name}) { ${resultMember} userErrors { field message } } }`;
  return {
    displayName,
    changedAt: { at: '/updatedAt', format: 'isoSeconds' },
    list: {
      ...declareRelayList(PATH, plural),
      since: { ...TIME_FILTER, template: "updated_at:>='{time}'" },
      until: { ...TIME_FILTER, template: "updated_at:<='{time}'" },
      filterExpression: { separator: ' AND ' },
      // The list is in the order of `updatedAt`.
      isKeysetPaged: true,
      selectedFields: {
        in: 'body',
        name: '/query',
        separator: ' ',
        always: fields,
        template: `query ($first: Int!, $after: String, $query: String) {
          ${plural}(first: $first, after: $after, query: $query, sortKey: UPDATED_AT) {
            nodes { {fields} } pageInfo { hasNextPage endCursor } } }`,
      },
    },
    byIds: {
      method: 'POST',
      path: PATH,
      ids: { in: 'body', name: '/variables/ids', isList: true, max: 50 },
      records: '/data/nodes',
      selectedFields: {
        in: 'body',
        name: '/query',
        separator: ' ',
        always: fields,
        template: `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on ${type} { {fields} } } }`,
      },
    },
    create: {
      method: 'POST',
      path: PATH,
      body: { query: formatMutation('Create', create) },
      bodyRecord: '/variables/input',
      ...locateResponse('Create'),
    },
    update: {
      method: 'POST',
      path: PATH,
      body: { query: formatMutation('Update', update) },
      bodyRecord: '/variables/input',
      bodyId: '/variables/input/id',
      ...locateResponse('Update'),
    },
    remove: {
      method: 'POST',
      path: PATH,
      body: { query: deleteMutation },
      bodyId: idLocation,
      refusalReasons: `/data/${singular}Delete/userErrors`,
    },
    standardFields,
  };
}

export const shopify: DeclaredProvider = {
  name: 'shopify',
  displayName: 'Shopify',
  baseUrl: 'https://{{workspace}}.myshopify.com',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  credentialsDocsUrl: 'https://shopify.dev/docs/api/admin-graphql#authentication',
  oauth2: {
    authorizeUrl: 'https://{{workspace}}.myshopify.com/admin/oauth/authorize',
    tokenUrl: 'https://{{workspace}}.myshopify.com/admin/oauth/access_token',
    explicitScopesRequired: true,
    scopeSeparator: ',',
    tokenAttachment: { in: 'header', name: 'X-Shopify-Access-Token' },
  },
  healthCheck: '/admin/oauth/access_scopes.json',
  workspaceRequired: true,
  workspaceDisplayName: 'Store',
  workspaceHelp: { docsUrl: 'https://shopify.dev/docs/api/admin-graphql#endpoints' },
  limits: { requestsPerSecond: 2 },
  api: {
    apiVersion: VERSION,
    docsUrl: 'https://shopify.dev/docs/api/admin-graphql',
    checkedAgainst:
      "the requests and responses of published connectors, and the vendor's pages on limits and paging",
    notes: ['Only orders from the last 60 days are read, unless the app has access to all orders.'],
    scopes: [
      'read_customers',
      'write_customers',
      'read_products',
      'write_products',
      'read_orders',
      'write_orders',
    ],
    errors: {
      messages: ['/errors'],
      failureMember: '/errors',
      rules: [
        { contains: 'ACCESS_DENIED', kind: 'FORBIDDEN' },
        { contains: 'INTERNAL_SERVER_ERROR', kind: 'SERVER_ERROR' },
      ],
      // The rate limit refills by at least 100 points per second. A page costs hundreds.
    },
    events: {
      authentication: {
        kind: 'hmac',
        header: 'X-Shopify-Hmac-Sha256',
        algorithm: 'sha256',
        encoding: 'base64',
      },
      account: {
        source: 'event',
        at: { header: 'X-Shopify-Shop-Domain' },
        template: '{account}.myshopify.com',
        ignoresCase: true,
      },
      typeParts: [{ header: 'X-Shopify-Topic' }],
      types: {
        'customers/create': { object: 'customers', kind: 'CREATE' },
        'customers/update': { object: 'customers', kind: 'UPDATE' },
        'customers/delete': { object: 'customers', kind: 'DELETE' },
        'products/create': { object: 'products', kind: 'CREATE' },
        'products/update': { object: 'products', kind: 'UPDATE' },
        'products/delete': { object: 'products', kind: 'DELETE' },
        'orders/create': { object: 'orders', kind: 'CREATE' },
        'orders/updated': { object: 'orders', kind: 'UPDATE' },
        'orders/delete': { object: 'orders', kind: 'DELETE' },
      },
      eventIdParts: [{ header: 'X-Shopify-Webhook-Id' }],
      recordId: {
        parts: ['/id'],
        templates: {
          customers: 'gid://shopify/Customer/{id}',
          products: 'gid://shopify/Product/{id}',
          orders: 'gid://shopify/Order/{id}',
        },
      },
      time: { at: { header: 'X-Shopify-Triggered-At' }, format: 'iso' },
      acceptedStatus: 200,
      instructions: [
        "In the app's configuration (shopify.app.toml) or its version at Shopify, subscribe the URI {url} to the topics of customers, products and orders.",
        "The app's client secret signs requests, so the provider app needs no `webhookSecret`.",
      ],
    },
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
      depthLimit: { records: 25_000, beyond: 'keyset' },
      fieldsMax: 'none',
      urlBytesMax: 'none',
      // A read selects plain fields, and no connection.
      nestedLists: 'complete',
      rateLimits: [{ contains: 'THROTTLED', waitMs: 5_000 }],
    },
    objects: {
      customers: declareObject(
        'Customers',
        {
          singular: 'customer',
          plural: 'customers',
          create: { name: 'input', type: 'CustomerInput' },
          update: { name: 'input', type: 'CustomerInput' },
          remove: {
            argument: 'input',
            variable: { name: 'input', type: 'CustomerDeleteInput' },
            idLocation: '/variables/input/id',
            resultMember: 'deletedCustomerId',
          },
        },
        { ...COMMON_FIELDS, firstName: 'STRING', lastName: 'STRING', note: 'STRING' },
      ),
      products: declareObject(
        'Products',
        {
          singular: 'product',
          plural: 'products',
          create: { name: 'product', type: 'ProductCreateInput' },
          update: { name: 'product', type: 'ProductUpdateInput' },
          remove: {
            argument: 'input',
            variable: { name: 'input', type: 'ProductDeleteInput' },
            idLocation: '/variables/input/id',
            resultMember: 'deletedProductId',
          },
        },
        { ...COMMON_FIELDS, title: 'STRING', handle: 'STRING', vendor: 'STRING', status: 'STRING' },
      ),
      orders: declareObject(
        'Orders',
        {
          singular: 'order',
          plural: 'orders',
          create: { name: 'order', type: 'OrderCreateOrderInput' },
          update: { name: 'input', type: 'OrderInput' },
          remove: {
            argument: 'orderId',
            variable: { name: 'id', type: 'ID' },
            idLocation: '/variables/id',
            resultMember: 'deletedId',
          },
        },
        { ...COMMON_FIELDS, name: 'STRING', email: 'STRING', note: 'STRING' },
      ),
    },
  },
};
