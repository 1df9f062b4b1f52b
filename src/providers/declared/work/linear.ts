/** Linear: a GraphQL API with Relay lists. */
import { MINUTE_MS } from '../../../work/durations.ts';
import type {
  ListInput,
  ObjectDeclarationInput,
  StandardFields,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';
import { declareRelayList } from '../relay-list.ts';

/** All requests have the same URL. The GraphQL query is in the body. */
const PATH = '';

const COMMON_FIELDS: StandardFields = {
  id: 'STRING',
  createdAt: 'DATETIME',
  updatedAt: 'DATETIME',
};

interface LinearObject {
  /** The GraphQL type of a record, such as `Issue`. */
  type: string;
  /** The field of the GraphQL query that lists the records, such as `issues`. */
  list: string;
  /** The verb of the mutation that deletes or archives a record. Null if there is none. */
  deleteVerb: 'Delete' | 'Archive' | null;
  canCreate?: boolean;
  /** False if the list does not support `filter`. */
  isFiltered?: boolean;
  /** The member of a mutation's response with the record. Default: the type in lower camel case. */
  responseMember?: string;
}

/** Declares an object. Its mutations are named after the type: `issueCreate` has an `IssueCreateInput`. */
function declareObject(
  displayName: string,
  {
    type,
    list,
    deleteVerb,
    canCreate = true,
    isFiltered = true,
    responseMember = toLowerCamelCase(type),
  }: LinearObject,
  standardFields: StandardFields,
): ObjectDeclarationInput {
  const mutationPrefix = toLowerCamelCase(type);
  const fieldNames = Object.keys({ ...COMMON_FIELDS, ...standardFields });
  const locateRecord = (verb: string) => `/data/${mutationPrefix}${verb}/${responseMember}`;
  const formatMutation = (verb: string, { variables = '', args = '' } = {}) =>
    `mutation ($input: ${type}${verb}Input!${variables}) {
      ${mutationPrefix}${verb}(${args}input: $input) {
        success ${responseMember} { ${fieldNames.join(' ')} } } }`;
  const filterVariable = isFiltered ? `, $filter: ${type}Filter` : '';
  const filterArgument = isFiltered ? ', filter: $filter' : '';
  const selectedFields: ListInput['selectedFields'] = {
    in: 'body',
    name: '/query',
    separator: ' ',
    always: fieldNames,
    template: `query ($first: Int, $after: String${filterVariable}) {
      ${list}(first: $first, after: $after${filterArgument}, orderBy: updatedAt) {
        nodes { {fields} } pageInfo { hasNextPage endCursor } } }`,
  };
  return {
    displayName,
    changedAt: { at: '/updatedAt', format: 'iso' },
    list: {
      ...declareRelayList(PATH, list),
      ...(isFiltered && {
        since: { in: 'body', name: '/variables/filter/updatedAt/gte', format: 'iso' },
        until: { in: 'body', name: '/variables/filter/updatedAt/lte', format: 'iso' },
        equalityFilter: {
          in: 'body',
          name: '/variables/filter/{field}/eq',
          names: { shape: 'identifier' },
        },
      }),
      selectedFields,
    },
    ...(isFiltered && {
      byIds: {
        method: 'POST',
        path: PATH,
        body: { variables: { first: 50 } },
        ids: { in: 'body', name: '/variables/filter/id/in', isList: true, max: 50 },
        records: `/data/${list}/nodes`,
        selectedFields,
      },
    }),
    ...(canCreate && {
      create: {
        method: 'POST',
        path: PATH,
        body: { query: formatMutation('Create') },
        bodyRecord: '/variables/input',
        responseRecord: locateRecord('Create'),
      },
    }),
    update: {
      method: 'POST',
      path: PATH,
      body: { query: formatMutation('Update', { variables: ', $id: String!', args: 'id: $id, ' }) },
      bodyRecord: '/variables/input',
      bodyId: '/variables/id',
      responseRecord: locateRecord('Update'),
    },
    ...(deleteVerb && {
      remove: {
        method: 'POST',
        path: PATH,
        body: {
          query: `mutation ($id: String!) { ${mutationPrefix}${deleteVerb}(id: $id) { success } }`,
        },
        bodyId: '/variables/id',
        success: { at: `/data/${mutationPrefix}${deleteVerb}/success`, value: true },
      },
    }),
    standardFields: { ...COMMON_FIELDS, ...standardFields },
  };
}

function toLowerCamelCase(type: string): string {
  return type.charAt(0).toLowerCase() + type.slice(1);
}

export const linear: DeclaredProvider = {
  name: 'linear',
  displayName: 'Linear',
  baseUrl: 'https://api.linear.app/graphql',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://linear.app/oauth/authorize',
    tokenUrl: 'https://api.linear.app/oauth/token',
    revocation: { method: 'POST', url: 'https://api.linear.app/oauth/revoke' },
    explicitScopesRequired: true,
    scopeSeparator: ',',
    tokenFields: { scopes: 'scope' },
  },
  healthCheck: { method: 'POST', path: PATH, body: { query: '{ viewer { id } }' } },
  limits: { requestsPerSecond: 1 },
  api: {
    docsUrl: 'https://linear.app/developers/graphql',
    checkedAgainst:
      "the vendor's published GraphQL schema, and its guides to limits, paging and filters",
    notes: [
      "Fields that hold objects can't be read, because a GraphQL query must select their members.",
    ],
    scopes: ['read', 'write'],
    errors: {
      messages: ['/errors'],
      failureMember: '/errors',
      rules: [
        { contains: 'AUTHENTICATION_ERROR', kind: 'AUTH_INVALIDATED' },
        { contains: 'FORBIDDEN', kind: 'FORBIDDEN' },
        { contains: 'INTERNAL_SERVER_ERROR', kind: 'SERVER_ERROR' },
        { contains: '"type":"internal error"', kind: 'SERVER_ERROR' },
        { contains: '"type":"lock timeout"', kind: 'SERVER_ERROR' },
      ],
      retryHeaders: [{ name: 'X-RateLimit-Requests-Reset', format: 'unixMilliseconds' }],
    },
    identity: {
      method: 'POST',
      path: PATH,
      body: { query: '{ viewer { id } organization { id } }' },
      workspaceRef: '/data/organization/id',
      consumerRef: '/data/viewer/id',
    },
    events: {
      authentication: {
        kind: 'hmac',
        header: 'Linear-Signature',
        algorithm: 'sha256',
        encoding: 'hex',
        // The signed body contains the time.
        timestamp: { at: '/webhookTimestamp', unit: 'milliseconds', toleranceMs: 60_000 },
      },
      account: { source: 'event', at: '/organizationId' },
      typeParts: ['/type', '/action'],
      types: {
        'Issue.create': { object: 'issues', kind: 'CREATE' },
        'Issue.update': { object: 'issues', kind: 'UPDATE' },
        'Issue.remove': { object: 'issues', kind: 'DELETE' },
        'Project.create': { object: 'projects', kind: 'CREATE' },
        'Project.update': { object: 'projects', kind: 'UPDATE' },
        'Project.remove': { object: 'projects', kind: 'DELETE' },
        'Comment.create': { object: 'comments', kind: 'CREATE' },
        'Comment.update': { object: 'comments', kind: 'UPDATE' },
        'Comment.remove': { object: 'comments', kind: 'DELETE' },
      },
      eventIdParts: ['/data/id', '/createdAt'],
      recordId: { parts: ['/data/id'] },
      time: { at: '/createdAt', format: 'iso' },
      changedFields: '/updatedFrom',
      acceptedStatus: 200,
      instructions: [
        'At Linear, open the OAuth application and enable webhooks. Enter {url} as the webhook URL.',
        'Choose the data change events of issues, projects and comments.',
        "Set the application's webhook signing secret as `webhookSecret` of the provider app.",
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
      depthLimit: 'notDocumented',
      fieldsMax: 'notDocumented',
      // Fields are in the body.
      urlBytesMax: 'none',
      // Requests select no connections, and the vendor returns lists of values whole.
      nestedLists: 'complete',
      // The vendor returns 400 with this code.
      rateLimits: [{ contains: 'RATELIMITED', waitMs: MINUTE_MS }],
    },
    objects: {
      issues: declareObject(
        'Issues',
        { type: 'Issue', list: 'issues', deleteVerb: 'Delete' },
        {
          identifier: 'STRING',
          title: 'STRING',
          description: 'STRING',
          priority: 'INT',
          dueDate: 'DATE',
          url: 'STRING',
        },
      ),
      projects: declareObject(
        'Projects',
        { type: 'Project', list: 'projects', deleteVerb: 'Delete' },
        {
          name: 'STRING',
          description: 'STRING',
          url: 'STRING',
        },
      ),
      comments: declareObject(
        'Comments',
        { type: 'Comment', list: 'comments', deleteVerb: 'Delete' },
        {
          body: 'STRING',
          url: 'STRING',
        },
      ),
      teams: declareObject(
        'Teams',
        { type: 'Team', list: 'teams', deleteVerb: 'Delete' },
        {
          name: 'STRING',
          key: 'STRING',
        },
      ),
      projectStatuses: declareObject(
        'Project statuses',
        {
          type: 'ProjectStatus',
          list: 'projectStatuses',
          deleteVerb: 'Archive',
          isFiltered: false,
          responseMember: 'status',
        },
        {
          name: 'STRING',
          description: 'STRING',
          color: 'STRING',
          position: 'FLOAT',
        },
      ),
      documents: declareObject(
        'Documents',
        { type: 'Document', list: 'documents', deleteVerb: 'Delete' },
        {
          title: 'STRING',
          content: 'STRING',
          url: 'STRING',
        },
      ),
      users: declareObject(
        'Users',
        { type: 'User', list: 'users', deleteVerb: null, canCreate: false },
        {
          name: 'STRING',
          displayName: 'STRING',
          email: 'STRING',
          active: 'BOOLEAN',
          admin: 'BOOLEAN',
        },
      ),
      cycles: declareObject(
        'Cycles',
        { type: 'Cycle', list: 'cycles', deleteVerb: 'Archive' },
        {
          name: 'STRING',
          description: 'STRING',
          number: 'INT',
          startsAt: 'DATETIME',
          endsAt: 'DATETIME',
        },
      ),
      customers: declareObject(
        'Customers',
        { type: 'Customer', list: 'customers', deleteVerb: 'Delete' },
        {
          name: 'STRING',
          revenue: 'INT',
          url: 'STRING',
        },
      ),
      workflowStates: declareObject(
        'Workflow states',
        { type: 'WorkflowState', list: 'workflowStates', deleteVerb: 'Archive' },
        {
          name: 'STRING',
          description: 'STRING',
          type: 'STRING',
          position: 'FLOAT',
        },
      ),
      issueLabels: declareObject(
        'Issue labels',
        { type: 'IssueLabel', list: 'issueLabels', deleteVerb: 'Delete' },
        {
          name: 'STRING',
          description: 'STRING',
          color: 'STRING',
        },
      ),
      initiatives: declareObject(
        'Initiatives',
        { type: 'Initiative', list: 'initiatives', deleteVerb: 'Delete' },
        {
          name: 'STRING',
          description: 'STRING',
          targetDate: 'DATE',
          url: 'STRING',
        },
      ),
      attachments: declareObject(
        'Attachments',
        { type: 'Attachment', list: 'attachments', deleteVerb: 'Delete' },
        {
          title: 'STRING',
          subtitle: 'STRING',
          url: 'STRING',
        },
      ),
    },
  },
};
