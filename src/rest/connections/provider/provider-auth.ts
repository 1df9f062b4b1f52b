/** How connections of a provider authenticate, in the form of the reference API. */
import { z } from 'zod';
import { computed } from '../../../domain/base/resource.ts';
import type {
  AuthScheme,
  CustomInput,
  Provider,
} from '../../../domain/connections/provider/provider.ts';

export const authType = z
  .enum(['oauth2', 'apiKey', 'basic', 'custom', 'none'])
  .describe('How connections authenticate: the kind of the first scheme in authSchemes.');
type AuthType = z.output<typeof authType>;

const grantType = z
  .enum(['authorizationCode', 'authorizationCodePKCE', 'clientCredentials', 'password'])
  .describe('The grant by which tokens are issued.');
type GrantType = z.output<typeof grantType>;

const SCHEMES: Record<AuthScheme, { authType: AuthType; grantType?: GrantType }> = {
  NONE: { authType: 'none' },
  API_KEY: { authType: 'apiKey' },
  BASIC: { authType: 'basic' },
  OAUTH2_AUTHORIZATION_CODE: { authType: 'oauth2', grantType: 'authorizationCode' },
  OAUTH2_AUTHORIZATION_CODE_PKCE: { authType: 'oauth2', grantType: 'authorizationCodePKCE' },
  OAUTH2_CLIENT_CREDENTIALS: { authType: 'oauth2', grantType: 'clientCredentials' },
  OAUTH2_PASSWORD: { authType: 'oauth2', grantType: 'password' },
};

const headerSchema = z
  .object({
    name: z.string().describe('The name of the header.'),
    valuePrefix: z.string().optional().describe('The text before the value, like `Bearer `.'),
  })
  .describe('The header that carries the credential.');

const templateSchema = z.object({
  name: z.string().describe('The name of the header or query parameter.'),
  valueTemplate: z
    .string()
    .describe('The value, in which `{{name}}` stands for the input of that name.'),
});

const tokenPath = (noun: string) =>
  z.string().optional().describe(`The path of ${noun} in the response, separated by dots.`);

const docsURL = z
  .string()
  .optional()
  .describe("The URL of the vendor's page about these credentials.");

export const inputShape = {
  displayName: z.string().describe('The name that people see.'),
  prompt: z.string().optional().describe('The text that people see next to the input.'),
  docsURL: z.string().optional().describe("The URL of the vendor's page about the value."),
};

/** Omits members that are not in the responses of REST. */
export function showInput({ name, displayName, prompt, docsUrl }: CustomInput) {
  return { name, displayName, prompt, docsURL: docsUrl };
}

const oauth2Opts = z.object({
  docsURL,
  grantType,
  authURL: z.string().optional().describe('The URL at which people consent.'),
  tokenURL: z.string().describe('The URL that issues tokens.'),
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
      header: headerSchema,
    })
    .optional()
    .describe('The location of the access token. Absent for `Authorization: Bearer`.'),
  tokenMetadataFields: z
    .object({
      workspaceRefField: tokenPath('the workspace'),
      consumerRefField: tokenPath("the provider's id of the consumer"),
      scopesField: tokenPath('the scopes'),
    })
    .describe('The members of the token response that a connection stores.'),
});

const apiKeyOpts = z.object({
  docsURL,
  attachmentType: z
    .enum(['header', 'query'])
    .describe('The part of a request that carries the key.'),
  header: headerSchema.optional(),
  query: z
    .object({ name: z.string().describe('The name of the query parameter.') })
    .optional()
    .describe('The query parameter that carries the key.'),
});

const customOpts = z.object({
  headers: z.array(templateSchema).optional().describe('Headers that contain the inputs.'),
  queryParams: z
    .array(templateSchema)
    .optional()
    .describe('Query parameters that contain the inputs.'),
  inputs: z
    .array(
      z.object({
        name: z.string().describe('The name of the input in customAuth.'),
        ...inputShape,
        optional: z.literal(true).optional().describe('Whether the input may be omitted.'),
      }),
    )
    .describe('The inputs of the customer.'),
});

/** Each member is present if the provider has a scheme of its kind. */
export const authOptions = {
  oauth2Opts: computed(oauth2Opts.optional().describe('For OAuth 2.'), showOAuth2),
  apiKeyOpts: computed(apiKeyOpts.optional().describe('For API keys.'), showApiKey),
  basicOpts: computed(
    z.object({ docsURL }).optional().describe('For user names with passwords.'),
    (provider: Provider) =>
      provider.authSchemes.includes('BASIC') ? showDocsUrl(provider, 'basic') : undefined,
  ),
  customOpts: computed(customOpts.optional().describe('For custom inputs.'), showCustom),
};

/** Only the options of the first scheme have a page. */
function showDocsUrl(provider: Provider, type: AuthType) {
  return { docsURL: toAuthType(provider) === type ? provider.credentialsDocsUrl : undefined };
}

function showCustom({ custom }: Provider) {
  if (!custom) return undefined;
  const { headers, queryParams, inputs } = custom;
  const showOptional = ({ optional }: CustomInput) => optional && { optional };
  return {
    headers,
    queryParams,
    inputs: inputs.map((input) => ({ ...showInput(input), ...showOptional(input) })),
  };
}

function showOAuth2(provider: Provider) {
  const { authSchemes, oauth2, workspaceRequired = false } = provider;
  const [firstGrant] = authSchemes.flatMap((scheme) => SCHEMES[scheme].grantType ?? []);
  if (!oauth2 || !firstGrant) return undefined;
  const { tokenFields = {}, tokenAttachment: attachment } = oauth2;
  return {
    ...showDocsUrl(provider, 'oauth2'),
    grantType: firstGrant,
    authURL: oauth2.authorizeUrl,
    tokenURL: oauth2.tokenUrl,
    explicitScopesRequired: oauth2.explicitScopesRequired ?? false,
    explicitWorkspaceRequired: workspaceRequired && !oauth2.sharedLogin,
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

function showApiKey(provider: Provider) {
  const { authSchemes, apiKey: attachment } = provider;
  if (!attachment || !authSchemes.includes('API_KEY')) return undefined;
  return {
    ...showDocsUrl(provider, 'apiKey'),
    attachmentType: attachment.in,
    [attachment.in]: attachment,
  };
}

/** A provider with custom inputs has no scheme. */
export function toAuthType({ authSchemes: [first = 'NONE'], custom }: Provider): AuthType {
  return first === 'NONE' && custom ? 'custom' : SCHEMES[first].authType;
}
