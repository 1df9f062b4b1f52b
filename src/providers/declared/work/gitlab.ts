/** GitLab: a REST API with Link headers. */
import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

const PAGE_SIZE = { in: 'query', name: 'per_page', max: 100 } as const;

/** Declares a list of the whole account. It is read-only, because the vendor writes these records below a project. */
function declareAccountObject(
  displayName: string,
  name: string,
  query: Record<string, string>,
): ObjectDeclarationInput {
  return {
    displayName,
    changedAt: { at: '/updated_at', format: 'iso' },
    list: {
      path: `/api/v4/${name}`,
      query: { ...query, order_by: 'updated_at', sort: 'asc' },
      records: '',
      pageSize: PAGE_SIZE,
      paging: { kind: 'link' },
      since: { in: 'query', name: 'updated_after', format: 'iso' },
      isKeysetPaged: true,
      until: { in: 'query', name: 'updated_before', format: 'iso' },
      // The vendor omits the header above 10,000 records.
      totalHeader: 'X-Total',
    },
  };
}

export const gitlab: DeclaredProvider = {
  name: 'gitlab',
  displayName: 'GitLab',
  baseUrl: 'https://gitlab.com',
  // Custom authentication, because no standard scheme sends a customer's token in a header.
  authSchemes: ['NONE'],
  custom: {
    inputs: [
      {
        name: 'token',
        displayName: 'Access Token',
        prompt: 'This can be a personal, project, or group access token.',
        docsUrl: 'https://gitlab.com/-/user_settings/personal_access_tokens',
      },
    ],
    headers: [{ name: 'PRIVATE-TOKEN', valueTemplate: '{{token}}' }],
  },
  healthCheck: '/api/v4/user',
  api: {
    apiVersion: 'v4',
    docsUrl: 'https://docs.gitlab.com/api/rest/',
    checkedAgainst:
      "the vendor's published OpenAPI description (2025-04-01), and its guides on paging and instance limits",
    notes: [
      'Events are not supported: webhooks are created project by project, and group webhooks require a paid plan.',
      'Merge requests and issues are read-only, because the vendor writes them below a project.',
      'A write of `code_suggestions/completions` requests a code suggestion, which is the `data` of its result. It needs `current_file`, with `file_name` and `content_above_cursor`. The vendor permits 60 such requests a minute for each user.',
    ],
    errors: { messages: ['/message', '/error_description', '/error'] },
    behavior: {
      shortPage: 'notDocumented',
      timeFilter: {
        precision: 'format',
        zone: 'utc',
        bounds: 'inclusive',
        column: 'changedAt',
      },
      visibility: 'notDocumented',
      expiredCursor: { never: 'The link to the next page has the number of the page.' },
      // The vendor refuses pages beyond this offset in lists that also support keyset paging.
      depthLimit: { records: 50_000, beyond: 'keyset' },
      // Requests name no fields.
      fieldsMax: 'none',
      urlBytesMax: 'none',
      nestedLists: 'notDocumented',
      rateLimits: 'status429',
    },
    objects: {
      projects: {
        ...declareAccountObject('Projects', 'projects', { membership: 'true' }),
        byIds: { path: '/api/v4/projects/{id}', records: '' },
        create: { method: 'POST', path: '/api/v4/projects', responseRecord: '' },
        update: { method: 'PUT', path: '/api/v4/projects/{id}', responseRecord: '' },
        remove: { path: '/api/v4/projects/{id}' },
      },
      groups: {
        displayName: 'Groups',
        list: {
          path: '/api/v4/groups',
          // New groups are at the end, so they shift no other group.
          query: { order_by: 'id', sort: 'asc' },
          records: '',
          pageSize: PAGE_SIZE,
          paging: { kind: 'link' },
          behavior: { timeFilter: 'none', depthLimit: { records: 50_000, beyond: 'fails' } },
        },
        // A group that is read by id would have its first 100 projects, which the list omits.
        byIds: { path: '/api/v4/groups/{id}', query: { with_projects: 'false' }, records: '' },
        create: { method: 'POST', path: '/api/v4/groups', responseRecord: '' },
        update: { method: 'PUT', path: '/api/v4/groups/{id}', responseRecord: '' },
        remove: { path: '/api/v4/groups/{id}' },
      },
      merge_requests: declareAccountObject('Merge requests', 'merge_requests', {
        scope: 'all',
        state: 'all',
      }),
      issues: declareAccountObject('Issues', 'issues', { scope: 'all' }),
    },
    writeOnlyObjects: {
      'code_suggestions/completions': {
        displayName: 'Code suggestions',
        // The response holds the suggestion. Its `id` names no record.
        id: '/none',
        create: {
          method: 'POST',
          path: '/api/v4/code_suggestions/completions',
          responseRecord: '',
          returnsNoId: true,
        },
      },
    },
  },
};
