/** How connections of a provider authenticate, in the form of the reference API. */
import { z } from 'zod';
import { computed } from '../../../domain/base/resource.ts';
import {
  type AuthScheme,
  type CustomInput,
  listCustomInputs,
  type Provider,
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

const fieldType = z
  .enum(['fieldTypeText', 'fieldTypePassword'])
  .describe('Whether forms show the value or mask it.');

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
        fieldType,
        optional: z.literal(true).optional().describe('Whether the input may be omitted.'),
      }),
    )
    .describe('The inputs of the customer.'),
  providerInputs: z
    .array(
      z.object({
        name: z.string().describe('The name of the member of the provider app.'),
        displayName: inputShape.displayName,
        fieldType,
      }),
    )
    .optional()
    .describe(
      'The members of a provider app that a consent of an administrator needs. Absent for other schemes.',
    ),
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

const CLIENT_INPUTS = [
  { name: 'clientId', displayName: 'Client ID', fieldType: 'fieldTypeText' as const },
  { name: 'clientSecret', displayName: 'Client Secret', fieldType: 'fieldTypePassword' as const },
];

/** The reference API counts the consent of an administrator as custom authentication. */
function showCustom(provider: Provider) {
  const { custom, oauth2 } = provider;
  if (!custom && !oauth2?.adminConsent) return undefined;
  return {
    headers: custom?.headers,
    queryParams: custom?.queryParams,
    inputs: listCustomInputs(provider).map(({ optional, isSecret, ...input }) => ({
      ...showInput(input),
      fieldType: isSecret ? ('fieldTypePassword' as const) : ('fieldTypeText' as const),
      ...(optional && { optional }),
    })),
    ...(oauth2?.adminConsent && { providerInputs: CLIENT_INPUTS }),
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
