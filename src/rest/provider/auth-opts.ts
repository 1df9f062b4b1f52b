/** How connections authenticate at a provider, in the words of the platform's catalogue. */
import { z } from 'zod';
import type { AuthScheme, Provider } from '../../domain/provider/provider.ts';

const GRANT_TYPES = {
  OAUTH2_AUTHORIZATION_CODE: 'authorizationCode',
  OAUTH2_AUTHORIZATION_CODE_PKCE: 'authorizationCodePKCE',
  OAUTH2_CLIENT_CREDENTIALS: 'clientCredentials',
  OAUTH2_PASSWORD: 'password',
} as const;
type GrantScheme = keyof typeof GRANT_TYPES;

const header = z
  .object({
    name: z.string().describe('The name of the header.'),
    valuePrefix: z.string().optional().describe('What is sent before the value, like `Bearer `.'),
  })
  .describe('The header that carries it.');

const template = z.object({
  name: z.string().describe('The name of the header or query parameter.'),
  valueTemplate: z.string().describe('Its value, with {{input}} for what the customer gave.'),
});

const path = (of: string) => z.string().optional().describe(`The path of ${of} in it, by dots.`);

const oauth2Opts = z.object({
  grantType: z.enum(Object.values(GRANT_TYPES)).describe('How tokens are got.'),
  authURL: z.string().optional().describe('The address where people consent.'),
  tokenURL: z.string().describe('The address that gives tokens.'),
  explicitScopesRequired: z.boolean().describe('Whether a consent must name scopes.'),
  explicitWorkspaceRequired: z
    .boolean()
    .describe('Whether the workspace must be known before the consent.'),
  authURLParams: z
    .record(z.string(), z.string())
    .optional()
    .describe('Query parameters that authURL always gets.'),
  accessTokenOpts: z
    .object({
      attachmentType: z.literal('accessTokenHeaderAttachment').describe('Always in a header.'),
      header,
    })
    .optional()
    .describe('Where the access token goes; left out for `Authorization: Bearer`.'),
  tokenMetadataFields: z
    .object({
      workspaceRefField: path('the workspace'),
      consumerRefField: path("the provider's id of the consumer"),
      scopesField: path('the scopes'),
    })
    .describe('What a connection keeps of the answer with the token.'),
});

const apiKeyOpts = z.object({
  attachmentType: z
    .enum(['header', 'query'])
    .describe('The part of a request that carries the key.'),
  header: header.optional(),
  query: z
    .object({ name: z.string().describe('The name of the query parameter.') })
    .optional()
    .describe('The query parameter that carries it.'),
});

const customOpts = z.object({
  headers: z.array(template).optional().describe('Headers that are made from the inputs.'),
  queryParams: z.array(template).optional().describe('Query parameters that are made from them.'),
  inputs: z
    .array(
      z.object({
        name: z.string().describe('The name of the member of customAuth.'),
        displayName: z.string().describe('The name that people see.'),
        optional: z.literal(true).optional().describe('Whether it may be left out.'),
      }),
    )
    .describe('What the customer gives.'),
});

/** Each is there if one of the provider's schemes is of its kind. */
export const AUTH_OPTS = {
  oauth2Opts: oauth2Opts.optional().describe('For OAuth 2.'),
  apiKeyOpts: apiKeyOpts.optional().describe('For API keys.'),
  basicOpts: z.object({}).optional().describe('For user names with passwords.'),
  customOpts: customOpts.optional().describe('For custom inputs.'),
};

export function showAuthOpts(provider: Provider) {
  const { authSchemes, custom } = provider;
  return {
    oauth2Opts: showOAuth2(provider),
    apiKeyOpts: authSchemes.includes('API_KEY') ? showApiKey(provider) : undefined,
    basicOpts: authSchemes.includes('BASIC') ? {} : undefined,
    customOpts: custom && showCustom(custom),
  };
}

function showCustom({ headers, queryParams, inputs }: NonNullable<Provider['custom']>) {
  return { headers, queryParams, inputs };
}

function showOAuth2({ authSchemes, oauth2, workspaceRequired = false }: Provider) {
  const scheme = authSchemes.find(isGrant);
  if (!oauth2 || !scheme) return undefined;
  const { tokenFields = {}, tokenAttachment: attachment } = oauth2;
  return {
    grantType: GRANT_TYPES[scheme],
    authURL: oauth2.authorizeUrl,
    tokenURL: oauth2.tokenUrl,
    explicitScopesRequired: oauth2.explicitScopesRequired ?? false,
    explicitWorkspaceRequired: workspaceRequired,
    authURLParams: oauth2.authorizeParams,
    accessTokenOpts:
      attachment?.in === 'header'
        ? { attachmentType: 'accessTokenHeaderAttachment' as const, header: attachment }
        : undefined,
    tokenMetadataFields: {
      workspaceRefField: tokenFields.workspaceRef,
      consumerRefField: tokenFields.consumerRef,
      scopesField: tokenFields.scopes,
    },
  };
}

function isGrant(scheme: AuthScheme): scheme is GrantScheme {
  return Object.hasOwn(GRANT_TYPES, scheme);
}

function showApiKey({ apiKey: attachment }: Provider) {
  if (!attachment) return undefined;
  return { attachmentType: attachment.in, [attachment.in]: attachment };
}
