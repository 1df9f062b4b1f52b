/** Outreach: a JSON:API. */
import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

interface ObjectOptions {
  /** True if the vendor sorts and filters by the time of change. */
  canFilter?: boolean;
  canUpdate?: boolean;
  canDelete?: boolean;
}

/**
 * Declares a JSON:API object. The body of an update repeats the id. A record has its relationships as the field
 * `relationships`; all other fields are attributes.
 */
function declareObject(
  displayName: string,
  name: string,
  type: string,
  { canFilter = true, canUpdate = true, canDelete = true }: ObjectOptions = {},
): ObjectDeclarationInput {
  const path = `/api/v2/${name}`;
  const write = { bodyRecord: '/data', body: { data: { type } }, responseRecord: '/data' };
  return {
    displayName,
    changedAt: { at: '/attributes/updatedAt', format: 'iso' },
    nestedFields: [{ at: '/attributes', names: { except: ['relationships'] } }],
    list: {
      path,
      ...(canFilter && { query: { sort: 'updatedAt' } }),
      records: '/data',
      pageSize: { in: 'query', name: 'page[size]', max: 1000 },
      paging: { kind: 'nextUrl', next: '/links/next' },
      ...(canFilter && {
        since: { in: 'query', name: 'filter[updatedAt]', format: 'iso', template: '{time}..inf' },
        // Links might expire, or end at a number of records. Requests from the time of the last record need no links.
        isKeysetPaged: true,
      }),
    },
    byIds: { path: `${path}/{id}`, records: '/data' },
    create: { method: 'POST', path, ...write },
    ...(canUpdate && {
      update: { method: 'PATCH', path: `${path}/{id}`, ...write, bodyId: '/data/id' },
    }),
    ...(canDelete && { remove: { path: `${path}/{id}` } }),
  };
}

export const outreach: DeclaredProvider = {
  name: 'outreach',
  displayName: 'Outreach',
  baseUrl: 'https://api.outreach.io',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://api.outreach.io/oauth/authorize',
    tokenUrl: 'https://api.outreach.io/oauth/token',
    explicitScopesRequired: true,
    tokenFields: { scopes: 'scope' },
  },
  healthCheck: '/api/v2',
  // The vendor permits 10,000 requests per hour for each user.
  limits: { requestsPerSecond: 2.7 },
  api: {
    apiVersion: 'v2',
    docsUrl: 'https://developers.outreach.io/api/',
    checkedAgainst: "the vendor's published OpenAPI description, and its guide on requests",
    scopes: [
      'prospects.all',
      'accounts.all',
      'opportunities.all',
      'tasks.all',
      'users.all',
      'sequences.all',
      'sequenceSteps.all',
      'sequenceStates.all',
      'sequenceTemplates.all',
      'templates.all',
      'snippets.all',
      'mailings.all',
      'mailboxes.all',
      'calls.all',
      'stages.all',
      'teams.all',
    ],
    headers: { 'content-type': 'application/vnd.api+json', accept: 'application/vnd.api+json' },
    errors: { messages: ['/errors'] },
    events: {
      authentication: {
        kind: 'hmac',
        header: 'Outreach-Webhook-Signature',
        algorithm: 'sha256',
        encoding: 'hex',
      },
      account: { source: 'url' },
      typeParts: [{ body: '/meta/eventName' }],
      types: {
        'prospect.created': { object: 'prospects', kind: 'CREATE' },
        'prospect.updated': { object: 'prospects', kind: 'UPDATE' },
        'prospect.destroyed': { object: 'prospects', kind: 'DELETE' },
        'account.created': { object: 'accounts', kind: 'CREATE' },
        'account.updated': { object: 'accounts', kind: 'UPDATE' },
        'account.destroyed': { object: 'accounts', kind: 'DELETE' },
        'opportunity.created': { object: 'opportunities', kind: 'CREATE' },
        'opportunity.updated': { object: 'opportunities', kind: 'UPDATE' },
        'opportunity.destroyed': { object: 'opportunities', kind: 'DELETE' },
        'task.created': { object: 'tasks', kind: 'CREATE' },
        'task.updated': { object: 'tasks', kind: 'UPDATE' },
        'task.destroyed': { object: 'tasks', kind: 'DELETE' },
      },
      // Events have no id, so the record and the delivery time identify them.
      eventIdParts: ['/data/id', { body: '/meta/deliveredAt' }],
      recordId: { parts: ['/data/id'] },
      time: { at: '/meta/deliveredAt', format: 'iso' },
      changedFields: '/data/attributes',
      acceptedStatus: 200,
      subscription: {
        path: '/api/v2/webhooks',
        body: {
          data: {
            type: 'webhook',
            attributes: { url: '{url}', action: '*', resource: '{object}', secret: '{secret}' },
          },
        },
        id: '/data/id',
        covers: 'object',
        objectNames: {
          prospects: 'prospect',
          accounts: 'account',
          opportunities: 'opportunity',
          tasks: 'task',
        },
        remove: { path: '/api/v2/webhooks/{subscriptionId}' },
      },
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
      fieldsMax: 'none',
      urlBytesMax: 'notDocumented',
      nestedLists: 'notDocumented',
      rateLimits: 'notDocumented',
    },
    objects: {
      prospects: declareObject('Prospects', 'prospects', 'prospect'),
      accounts: declareObject('Accounts', 'accounts', 'account'),
      opportunities: declareObject('Opportunities', 'opportunities', 'opportunity'),
      tasks: declareObject('Tasks', 'tasks', 'task'),
      users: declareObject('Users', 'users', 'user', { canDelete: false }),
      sequences: declareObject('Sequences', 'sequences', 'sequence'),
      sequenceSteps: declareObject('Sequence steps', 'sequenceSteps', 'sequenceStep', {
        canDelete: false,
      }),
      sequenceStates: declareObject('Sequence states', 'sequenceStates', 'sequenceState', {
        canUpdate: false,
      }),
      sequenceTemplates: declareObject(
        'Sequence templates',
        'sequenceTemplates',
        'sequenceTemplate',
        {
          canFilter: false,
        },
      ),
      templates: declareObject('Templates', 'templates', 'template'),
      snippets: declareObject('Snippets', 'snippets', 'snippet'),
      mailings: declareObject('Mailings', 'mailings', 'mailing', {
        canUpdate: false,
        canDelete: false,
      }),
      mailboxes: declareObject('Mailboxes', 'mailboxes', 'mailbox'),
      calls: declareObject('Calls', 'calls', 'call', { canUpdate: false }),
      stages: declareObject('Stages', 'stages', 'stage'),
      teams: declareObject('Teams', 'teams', 'team'),
    },
  },
};
