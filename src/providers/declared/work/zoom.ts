/** Zoom: a REST API whose meetings, webinars and recordings are listed under each user. */
import type {
  ListInput,
  ObjectDeclarationInput,
  StandardFields,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

function declareList(path: string, records: string, pageSizeMax: number): ListInput {
  return {
    path,
    records: `/${records}`,
    pageSize: { in: 'query', name: 'page_size', max: pageSizeMax },
    paging: {
      kind: 'cursor',
      parameter: { in: 'query', name: 'next_page_token' },
      next: '/next_page_token',
    },
    total: '/total_records',
  };
}

/** Declares the requests that read, update and delete one record. Updates return 204. */
function declareRequestsById(
  name: string,
): Pick<ObjectDeclarationInput, 'byIds' | 'update' | 'remove'> {
  return {
    byIds: { path: `/v2/${name}/{id}`, records: '' },
    update: { method: 'PATCH', path: `/v2/${name}/{id}` },
    remove: { path: `/v2/${name}/{id}` },
  };
}

const MEETING_FIELDS: StandardFields = {
  id: 'STRING',
  topic: 'STRING',
  agenda: 'STRING',
  start_time: 'DATETIME',
  duration: 'INT',
  timezone: 'STRING',
  join_url: 'STRING',
};
const USER_PARENT = { object: 'users', variable: 'user_id' };
const LAST_MONTH = {
  from: { in: 'query', name: 'from' },
  to: { in: 'query', name: 'to' },
  days: 29,
} as const;

export const zoom: DeclaredProvider = {
  name: 'zoom',
  displayName: 'Zoom',
  baseUrl: 'https://api.zoom.us',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE', 'OAUTH2_AUTHORIZATION_CODE_PKCE'],
  oauth2: {
    authorizeUrl: 'https://zoom.us/oauth/authorize',
    tokenUrl: 'https://zoom.us/oauth/token',
    revocation: { method: 'POST', url: 'https://zoom.us/oauth/revoke' },
    clientAuthentication: 'basic',
    tokenFields: { scopes: 'scope' },
  },
  healthCheck: '/v2/users/me',
  api: {
    apiVersion: 'v2',
    docsUrl: 'https://developers.zoom.us/docs/api/',
    checkedAgainst:
      "the vendor's published OpenAPI descriptions of users and meetings (2025-02-18), its SDK for Node.js, and its guides on errors, paging and rate limits",
    notes: [
      'Only active users are read. Meetings, webinars and recordings are read user by user.',
      'Recordings and the user report cover the last 29 days, because the vendor lists at most a month at a time.',
    ],
    errors: { messages: ['/errors', '/message'] },
    identity: { path: '/v2/users/me', workspaceRef: '/account_id', consumerRef: '/id' },
    events: {
      authentication: {
        kind: 'hmac',
        header: 'x-zm-signature',
        prefix: 'v0=',
        algorithm: 'sha256',
        encoding: 'hex',
        signedPayload: 'v0:{timestamp}:{body}',
        timestamp: {
          at: { header: 'x-zm-request-timestamp' },
          unit: 'seconds',
          toleranceMs: 300_000,
        },
      },
      account: { source: 'event', at: '/payload/account_id' },
      typeParts: ['/event'],
      types: {
        'user.created': { object: 'users', kind: 'CREATE' },
        'user.updated': { object: 'users', kind: 'UPDATE' },
        'user.deleted': { object: 'users', kind: 'DELETE' },
        'meeting.created': { object: 'meetings', kind: 'CREATE' },
        'meeting.updated': { object: 'meetings', kind: 'UPDATE' },
        'meeting.deleted': { object: 'meetings', kind: 'DELETE' },
        'webinar.created': { object: 'webinars', kind: 'CREATE' },
        'webinar.updated': { object: 'webinars', kind: 'UPDATE' },
        'webinar.deleted': { object: 'webinars', kind: 'DELETE' },
      },
      eventIdParts: ['/payload/object/id', '/event_ts'],
      recordId: { parts: ['/payload/object/id'] },
      time: { at: '/event_ts', format: 'unixMilliseconds' },
      acceptedStatus: 200,
      challenge: {
        at: '/event',
        value: 'endpoint.url_validation',
        token: '/payload/plainToken',
        response: { token: 'plainToken', signed: 'encryptedToken' },
      },
      instructions: [
        "In Zoom's App Marketplace, open the app's features, and set its Secret Token as `webhookSecret` of the provider app.",
        'Add an event subscription with {url} as the notification endpoint, and choose events of users, meetings and webinars.',
        "Validate the endpoint. The gateway responds to Zoom's request.",
      ],
    },
    behavior: {
      shortPage: 'notDocumented',
      timeFilter: 'none',
      visibility: 'notDocumented',
      // A token expires after 15 minutes.
      expiredCursor: [
        { contains: 'next page token is invalid or expired' },
        { contains: 'next_page_token' },
      ],
      depthLimit: 'notDocumented',
      // Requests name no fields.
      fieldsMax: 'none',
      urlBytesMax: 'none',
      nestedLists: 'notDocumented',
      rateLimits: 'status429',
    },
    objects: {
      users: {
        displayName: 'Users',
        list: declareList('/v2/users', 'users', 2000),
        create: {
          method: 'POST',
          path: '/v2/users',
          bodyRecord: '/user_info',
          body: { action: 'create' },
          responseRecord: '',
        },
        ...declareRequestsById('users'),
        standardFields: {
          id: 'STRING',
          email: 'STRING',
          first_name: 'STRING',
          last_name: 'STRING',
        },
      },
      meetings: {
        displayName: 'Meetings',
        parent: USER_PARENT,
        list: {
          ...declareList('/v2/users/{user_id}/meetings', 'meetings', 300),
          query: { type: 'scheduled' },
        },
        create: { method: 'POST', path: '/v2/users/{user_id}/meetings', responseRecord: '' },
        ...declareRequestsById('meetings'),
        standardFields: MEETING_FIELDS,
      },
      webinars: {
        displayName: 'Webinars',
        parent: USER_PARENT,
        list: declareList('/v2/users/{user_id}/webinars', 'webinars', 300),
        create: { method: 'POST', path: '/v2/users/{user_id}/webinars', responseRecord: '' },
        ...declareRequestsById('webinars'),
        standardFields: MEETING_FIELDS,
      },
      groups: {
        displayName: 'Groups',
        list: declareList('/v2/groups', 'groups', 300),
        create: { method: 'POST', path: '/v2/groups', responseRecord: '' },
        ...declareRequestsById('groups'),
        standardFields: { id: 'STRING', name: 'STRING', total_members: 'INT' },
      },
      recordings: {
        displayName: 'Recordings',
        id: '/uuid',
        parent: USER_PARENT,
        list: {
          ...declareList('/v2/users/{user_id}/recordings', 'meetings', 300),
          dayRange: LAST_MONTH,
        },
        standardFields: {
          uuid: 'STRING',
          topic: 'STRING',
          start_time: 'DATETIME',
          duration: 'INT',
          recording_count: 'INT',
          total_size: 'INT',
        },
      },
      meeting_summaries: {
        displayName: 'Meeting summaries',
        id: '/meeting_uuid',
        changedAt: { at: '/summary_last_modified_time', format: 'iso' },
        list: declareList('/v2/meetings/meeting_summaries', 'summaries', 300),
        standardFields: {
          meeting_uuid: 'STRING',
          meeting_topic: 'STRING',
          meeting_host_email: 'STRING',
          meeting_start_time: 'DATETIME',
          meeting_end_time: 'DATETIME',
          summary_created_time: 'DATETIME',
          summary_last_modified_time: 'DATETIME',
        },
      },
      users_report: {
        displayName: 'User report',
        list: { ...declareList('/v2/report/users', 'users', 300), dayRange: LAST_MONTH },
        standardFields: {
          id: 'STRING',
          user_name: 'STRING',
          email: 'STRING',
          dept: 'STRING',
          meetings: 'INT',
          participants: 'INT',
          meeting_minutes: 'INT',
        },
      },
      tracking_fields: {
        displayName: 'Tracking fields',
        list: {
          path: '/v2/tracking_fields',
          records: '/tracking_fields',
          paging: { kind: 'none' },
          total: '/total_records',
        },
        create: { method: 'POST', path: '/v2/tracking_fields', responseRecord: '' },
        ...declareRequestsById('tracking_fields'),
        standardFields: { id: 'STRING', field: 'STRING', required: 'BOOLEAN', visible: 'BOOLEAN' },
      },
      devices: {
        displayName: 'Devices',
        id: '/device_id',
        list: declareList('/v2/devices', 'devices', 300),
        create: { method: 'POST', path: '/v2/devices', returnsNoId: true },
        ...declareRequestsById('devices'),
        standardFields: {
          device_id: 'STRING',
          device_name: 'STRING',
          mac_address: 'STRING',
          serial_number: 'STRING',
          vendor: 'STRING',
          model: 'STRING',
          tag: 'STRING',
        },
      },
    },
  },
};
