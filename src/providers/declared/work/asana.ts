/** Asana: a REST API whose objects are listed below a workspace or a project. */
import type {
  ListInput,
  ObjectDeclarationInput,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

interface ObjectOptions {
  parent?: ObjectDeclarationInput['parent'];
  /** The path of the list below a parent. Default: the path of the object. */
  listPath?: string;
  query?: Record<string, string>;
  /** True if records have a time of change, and the list can be filtered by it. */
  hasChangeTime?: boolean;
  isReadOnly?: boolean;
  canDelete?: boolean;
  standardFields: ObjectDeclarationInput['standardFields'];
}

/** The id of a custom field. Its value is in the record's list of custom fields. */
const CUSTOM_FIELD = { shape: 'digits' } as const;

/** Declares an object. Responses contain only ids and names unless the request names fields. */
function declareObject(
  displayName: string,
  name: string,
  {
    parent,
    listPath,
    query = {},
    hasChangeTime = false,
    isReadOnly = false,
    canDelete = true,
    standardFields,
  }: ObjectOptions,
): ObjectDeclarationInput {
  const path = `/1.0/${name}`;
  const list: ListInput = {
    path: listPath ?? path,
    query,
    records: '/data',
    pageSize: { in: 'query', name: 'limit', max: 100 },
    paging: {
      kind: 'cursor',
      parameter: { in: 'query', name: 'offset' },
      next: '/next_page/offset',
    },
    selectedFields: {
      in: 'query',
      name: 'opt_fields',
      always: hasChangeTime ? ['gid', 'modified_at'] : ['gid'],
      container: { names: CUSTOM_FIELD, name: 'custom_fields' },
    },
    ...(hasChangeTime && { since: { in: 'query', name: 'modified_since', format: 'iso' } }),
  };
  return {
    displayName,
    id: '/gid',
    ...(hasChangeTime && { changedAt: { at: '/modified_at', format: 'iso' } }),
    ...(parent && { parent }),
    nestedFields: [
      {
        at: '/custom_fields',
        names: CUSTOM_FIELD,
        entries: { name: '/gid', value: '/display_value', writeFormat: 'map' },
      },
    ],
    list,
    byIds: { path: `${path}/{id}`, records: '/data', selectedFields: list.selectedFields },
    ...(!isReadOnly && {
      create: { method: 'POST', path, bodyRecord: '/data', responseRecord: '/data' },
      update: { method: 'PUT', path: `${path}/{id}`, bodyRecord: '/data', responseRecord: '/data' },
      ...(canDelete && { remove: { path: `${path}/{id}` } }),
    }),
    standardFields,
  };
}

const WORKSPACE_PARENT = { object: 'workspaces', variable: 'workspace' };

export const asana: DeclaredProvider = {
  name: 'asana',
  displayName: 'Asana',
  baseUrl: 'https://app.asana.com/api',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://app.asana.com/-/oauth_authorize',
    tokenUrl: 'https://app.asana.com/-/oauth_token',
    revocation: { method: 'POST', url: 'https://app.asana.com/-/oauth_revoke' },
    tokenFields: { consumerRef: 'data.id' },
  },
  healthCheck: '/1.0/users/me',
  // The vendor permits 150 requests per minute without a paid plan.
  limits: { requestsPerSecond: 2.5 },
  api: {
    apiVersion: '1.0',
    docsUrl: 'https://developers.asana.com/reference/rest-api-reference',
    checkedAgainst:
      "the vendor's published OpenAPI description, its guides on paging, rate limits and webhooks, and published connectors",
    notes: [
      'Projects report changes only in workspaces that existed when the subscription was created. Task events are not supported: each project needs its own subscription, so tasks of later projects would report none.',
      'Tasks are read project by project. A task without a project is not read, and a task in two projects is read twice.',
      'Only portfolios that the connected user owns are read. The vendor lists other portfolios only to service accounts.',
    ],
    events: {
      authentication: {
        kind: 'hmac',
        header: 'X-Hook-Signature',
        algorithm: 'sha256',
        encoding: 'hex',
      },
      account: { source: 'subscription' },
      handshake: { header: 'X-Hook-Secret' },
      bodyEvents: '/events',
      typeParts: ['/resource/resource_type', '/action'],
      types: {
        'project.added': { object: 'projects', kind: 'CREATE' },
        'project.changed': { object: 'projects', kind: 'UPDATE' },
        'project.undeleted': { object: 'projects', kind: 'UPDATE' },
        'project.deleted': { object: 'projects', kind: 'DELETE' },
      },
      // Events have no id, so the resource and the time identify them.
      eventIdParts: ['/resource/gid', '/created_at'],
      recordId: { parts: ['/resource/gid'] },
      time: { at: '/created_at', format: 'iso' },
      changedFields: '/change/field',
      acceptedStatus: 200,
      subscription: {
        path: '/1.0/webhooks',
        body: { data: { resource: '{workspace}', target: '{url}' } },
        types: { at: '/data/filters', item: { resource_type: '{subject}', action: '{action}' } },
        id: '/data/gid',
        secret: { at: '/X-Hook-Secret' },
        covers: 'parent',
        checkPath: '/1.0/webhooks/{subscriptionId}',
        remove: { path: '/1.0/webhooks/{subscriptionId}' },
      },
    },
    errors: { messages: ['/errors'] },
    behavior: {
      shortPage: 'notDocumented',
      // The filter also compares changes of associations and comments, which do not move `modified_at`.
      timeFilter: {
        precision: 'format',
        zone: 'utc',
        bounds: 'notDocumented',
        column: 'other',
      },
      visibility: 'notDocumented',
      expiredCursor: [
        { status: 400, contains: 'pagination token has expired' },
        { status: 400, contains: 'offset: ' },
        { status: 412 },
      ],
      depthLimit: 'notDocumented',
      fieldsMax: 'notDocumented',
      urlBytesMax: 'notDocumented',
      nestedLists: 'notDocumented',
      rateLimits: 'status429',
    },
    objects: {
      workspaces: declareObject('Workspaces', 'workspaces', {
        isReadOnly: true,
        standardFields: { gid: 'STRING', name: 'STRING' },
      }),
      projects: declareObject('Projects', 'projects', {
        parent: WORKSPACE_PARENT,
        listPath: '/1.0/workspaces/{workspace}/projects',
        standardFields: { gid: 'STRING', name: 'STRING', notes: 'STRING', archived: 'BOOLEAN' },
      }),
      tasks: declareObject('Tasks', 'tasks', {
        parent: { object: 'projects', variable: 'project' },
        query: { project: '{project}' },
        hasChangeTime: true,
        standardFields: { gid: 'STRING', name: 'STRING', notes: 'STRING', completed: 'BOOLEAN' },
      }),
      tags: declareObject('Tags', 'tags', {
        parent: WORKSPACE_PARENT,
        listPath: '/1.0/workspaces/{workspace}/tags',
        standardFields: { gid: 'STRING', name: 'STRING', color: 'STRING', notes: 'STRING' },
      }),
      users: declareObject('Users', 'users', {
        parent: WORKSPACE_PARENT,
        listPath: '/1.0/workspaces/{workspace}/users',
        isReadOnly: true,
        standardFields: { gid: 'STRING', name: 'STRING', email: 'STRING' },
      }),
      teams: declareObject('Teams', 'teams', {
        parent: WORKSPACE_PARENT,
        listPath: '/1.0/workspaces/{workspace}/teams',
        canDelete: false,
        standardFields: { gid: 'STRING', name: 'STRING', description: 'STRING' },
      }),
      portfolios: declareObject('Portfolios', 'portfolios', {
        parent: WORKSPACE_PARENT,
        query: { workspace: '{workspace}' },
        standardFields: { gid: 'STRING', name: 'STRING', color: 'STRING' },
      }),
      goals: declareObject('Goals', 'goals', {
        parent: WORKSPACE_PARENT,
        query: { workspace: '{workspace}' },
        standardFields: { gid: 'STRING', name: 'STRING', notes: 'STRING', status: 'STRING' },
      }),
      custom_fields: declareObject('Custom fields', 'custom_fields', {
        parent: WORKSPACE_PARENT,
        listPath: '/1.0/workspaces/{workspace}/custom_fields',
        standardFields: {
          gid: 'STRING',
          name: 'STRING',
          description: 'STRING',
          resource_subtype: 'STRING',
        },
      }),
    },
  },
};
