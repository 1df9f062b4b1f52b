import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

type Known = NonNullable<ObjectDeclarationInput['known']>;

const FILTER = { in: 'query', name: 'filter', format: 'iso', isExclusive: true } as const;

/** JSON:API. Filters compare strictly. */
function object(
  displayName: string,
  { name, type, size, hasRemoval = true }: Options,
  known: Known,
): ObjectDeclarationInput {
  const path = `/api/${name}`;
  const body = { data: { type } };
  return {
    displayName,
    changedAt: { at: '/attributes/updated', format: 'iso' },
    nested: [{ at: '/attributes' }, { at: '/attributes/properties' }],
    all: {
      path,
      query: { sort: 'updated' },
      records: '/data',
      size: { in: 'query', name: 'page[size]', max: size },
      paging: { kind: 'nextUrl', next: '/links/next' },
      since: { ...FILTER, template: 'greater-than(updated,{time})' },
    },
    byIds: { path: `${path}/{id}`, records: '/data' },
    create: { method: 'POST', path, wrap: '/data/attributes', body, record: '/data' },
    update: {
      method: 'PATCH',
      path: `${path}/{id}`,
      wrap: '/data/attributes',
      body,
      id: '/data/id',
      record: '/data',
    },
    ...(hasRemoval && { remove: { path: `${path}/{id}` } }),
    known: { created: 'DATETIME', updated: 'DATETIME', ...known },
  };
}

interface Options {
  name: string;
  type: string;
  /** The most in a page. */
  size: number;
  hasRemoval?: boolean;
}

export const klaviyo: DeclaredProvider = {
  name: 'klaviyo',
  displayName: 'Klaviyo',
  baseUrl: 'https://a.klaviyo.com',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE_PKCE'],
  oauth2: {
    authorizeUrl: 'https://www.klaviyo.com/oauth/authorize',
    tokenUrl: 'https://a.klaviyo.com/oauth/token',
    explicitScopesRequired: true,
    clientAuthentication: 'basic',
    tokenFields: { scopes: 'scope' },
  },
  records: {
    apiVersion: '2026-07-15',
    docsUrl: 'https://developers.klaviyo.com/en/reference/api_overview',
    checkedAgainst: "the vendor's published OpenAPI description (2026-07-15)",
    notes: [
      'Profiles are deleted by a request for privacy alone, which can be forwarded.',
      'Subscribing is left out: the vendor tells of what people do, and not that profiles or lists are made, changed or deleted.',
    ],
    scopes: [
      'profiles:read',
      'profiles:write',
      'lists:read',
      'lists:write',
      'segments:read',
      'segments:write',
    ],
    headers: {
      revision: '2026-07-15',
      accept: 'application/vnd.api+json',
      'content-type': 'application/vnd.api+json',
    },
    errors: { messages: ['/errors'] },
    objects: {
      profiles: object(
        'Profiles',
        { name: 'profiles', type: 'profile', size: 100, hasRemoval: false },
        { email: 'STRING', phone_number: 'STRING', first_name: 'STRING', last_name: 'STRING' },
      ),
      lists: object('Lists', { name: 'lists', type: 'list', size: 10 }, { name: 'STRING' }),
      segments: object(
        'Segments',
        { name: 'segments', type: 'segment', size: 10 },
        { name: 'STRING' },
      ),
    },
  },
};
