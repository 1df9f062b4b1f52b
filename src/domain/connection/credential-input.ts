/** Credentials in the input of a mutation: one field for each kind. */
import { z } from 'zod';
import { type AuthScheme, CONSENT_SCHEMES, type Provider } from '../../providers/contract.ts';
import { jsonObject } from '../json-object.ts';
import type { Credentials, StoredToken } from './credentials.ts';

/** Limits the size of a row. The longest tokens in use, JWTs with many claims, are half as long. */
const SECRET_MAX = 8_192;
const SCOPES_MAX = 100;

/** Text for a header, a query or a form. Control characters could end the value there. */
const textOrNone = z
  .string()
  .max(SECRET_MAX)
  .regex(/^\P{Cc}*$/u, 'must not have control characters.');
export const secretText = textOrNone.min(1);

export const oauthScopes = z.array(secretText.max(512)).max(SCOPES_MAX);
const username = secretText.describe('The user name at the provider.');
const clientId = secretText.describe('The OAuth client id.');
const clientSecret = secretText.describe('The OAuth client secret. It is stored sealed.');
const scopes = oauthScopes
  .nullish()
  .describe('The OAuth scopes to request. Default: none are named.');

const apiKey = secretText.describe('An API key that the provider gave to the customer.');

const basicAuth = z
  .object({
    username,
    password: textOrNone.describe('The password at the provider; may be empty.'),
  })
  .meta({
    id: 'BasicAuthInput',
    description: 'Credentials of HTTP Basic: a user name and a password.',
  });

const oauth2ClientCredentials = z.object({ clientId, clientSecret, scopes }).meta({
  id: 'OAuth2ClientCredentialsInput',
  description: 'Credentials of OAuth client credentials: a client that acts for itself.',
});

const oauth2PasswordCredentials = z
  .object({
    username,
    password: secretText.describe('The password at the provider.'),
    clientId,
    clientSecret,
    scopes,
  })
  .meta({
    id: 'OAuth2PasswordCredentialsInput',
    description:
      'Credentials of the OAuth password grant: a user name and a password, which the gateway exchanges for a token.',
  });

export const oauth2Token = z
  .object({
    token: secretText.describe('The value of the token.'),
    issueTime: z.date().nullish().describe('When the token was issued. Default: not known.'),
    expireTime: z.date().nullish().describe('When the token expires. Default: not known.'),
  })
  .meta({ id: 'OAuth2TokenInput', description: 'An OAuth token and its lifetime.' });

const oauth2AuthorizationCode = z
  .object({
    accessToken: oauth2Token
      .nullish()
      .describe('The token that authenticates requests to the provider.'),
    refreshToken: oauth2Token.nullish().describe('The token that gets new access tokens.'),
    scopes: oauthScopes
      .nullish()
      .describe(
        'The OAuth scopes that the provider granted; without tokens, those to ask consent for.',
      ),
  })
  .refine(
    ({ accessToken, refreshToken, scopes: some }) => accessToken || refreshToken || some?.length,
    {
      error: 'needs an accessToken, a refreshToken, or scopes to ask consent for.',
    },
  )
  .meta({
    id: 'OAuth2AuthorizationCodeInput',
    description:
      'OAuth tokens that the customer has granted already, to import. With scopes alone the connection waits for a consent: startOAuthUpdate asks for them.',
  });

const customAuth = jsonObject.describe(
  'Values of the custom inputs that the provider declares, by name.',
);

/** The kinds of credentials. An input contains at most one of them. */
export const credentialFields = {
  apiKey,
  basicAuth,
  oauth2ClientCredentials,
  oauth2PasswordCredentials,
  oauth2AuthorizationCode,
  customAuth,
};

export type CredentialField = keyof typeof credentialFields;
export type CredentialInput = {
  [F in CredentialField]?: z.input<(typeof credentialFields)[F]> | null;
};

/** The schemes that each field can be used for. */
export const SCHEMES_OF_FIELD: Record<CredentialField, readonly AuthScheme[]> = {
  apiKey: ['API_KEY'],
  basicAuth: ['BASIC'],
  oauth2ClientCredentials: ['OAUTH2_CLIENT_CREDENTIALS'],
  oauth2PasswordCredentials: ['OAUTH2_PASSWORD'],
  oauth2AuthorizationCode: CONSENT_SCHEMES,
  customAuth: ['NONE'],
};
export const CREDENTIAL_FIELDS = Object.keys(SCHEMES_OF_FIELD) as CredentialField[];

/** The stored form of the field in the input. NONE if the input has no credential field. */
export function credentialsOf(
  { authScheme: scheme, custom }: { authScheme: AuthScheme; custom: Provider['custom'] },
  input: CredentialInput,
): Credentials {
  const { oauth2ClientCredentials: client, oauth2PasswordCredentials: password } = input;
  const { oauth2AuthorizationCode: tokens } = input;
  if (input.apiKey != null) return { scheme: 'API_KEY', apiKey: input.apiKey };
  if (input.basicAuth) return { scheme: 'BASIC', ...input.basicAuth };
  if (client) {
    return { scheme: 'OAUTH2_CLIENT_CREDENTIALS', ...client, scopes: client.scopes ?? [] };
  }
  if (password) return { scheme: 'OAUTH2_PASSWORD', ...password, scopes: password.scopes ?? [] };
  if (tokens) {
    const pkce = scheme === 'OAUTH2_AUTHORIZATION_CODE_PKCE';
    return {
      scheme: pkce ? 'OAUTH2_AUTHORIZATION_CODE_PKCE' : 'OAUTH2_AUTHORIZATION_CODE',
      accessToken: storedToken(tokens.accessToken),
      refreshToken: storedToken(tokens.refreshToken),
      scopes: tokens.scopes ?? [],
    };
  }
  if (input.customAuth && custom?.serviceAccount) {
    return { scheme: 'SERVICE_ACCOUNT', custom: input.customAuth };
  }
  return { scheme: 'NONE', custom: input.customAuth ?? {} };
}

function storedToken(
  values: z.input<typeof oauth2Token> | null | undefined,
): StoredToken | undefined {
  if (!values) return undefined;
  const { issueTime, expireTime } = values;
  return {
    token: values.token,
    issuedAt: issueTime?.toISOString(),
    expiresAt: expireTime?.toISOString(),
  };
}
