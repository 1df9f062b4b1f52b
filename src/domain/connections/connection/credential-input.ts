/** The credentials in the input of a mutation: one field for each kind. */
import { z } from 'zod';
import { joinTexts, member, text } from '../../../kernel/text.ts';
import { FIELD_VALUE } from '../../../outbound/exchange.ts';
import { type AuthScheme, CONSENT_SCHEMES, type Provider } from '../../../providers/contract.ts';
import { boundedJsonObject } from '../../base/input-schemas.ts';
import { checkRules, createRuleIssue } from '../../base/issues.ts';
import type { Credentials, StoredToken } from './credentials.ts';

/** The detail of an issue with a value that a header can't hold. */
export const NOT_IN_HEADER = 'must be Latin-1 text, because it is sent in a header.';

/** The maximum length of a secret. The longest tokens in use, JWTs with many claims, are half as long. */
const SECRET_LENGTH_MAX = 8_192;
const SCOPES_MAX = 100;

/**
 * Text that is sent in a header, a query or a form. A control character could end it early, so control characters are
 * refused.
 */
const possiblyEmptyText = z
  .string()
  .max(SECRET_LENGTH_MAX)
  .regex(/^\P{Cc}*$/u, 'must not contain control characters.');
export const requiredText = possiblyEmptyText.min(1);

export const oauthScopes = z.array(requiredText.max(512)).max(SCOPES_MAX);
const username = requiredText.describe('The user name at the provider.');
const clientId = requiredText.describe('The OAuth client id.');
const clientSecret = requiredText.describe('The OAuth client secret. It is stored encrypted.');
const scopes = oauthScopes.nullish().describe('The OAuth scopes to request. Default: none.');

/** Text that is sent in a header, which holds only Latin-1. */
const headerText = requiredText.regex(FIELD_VALUE, NOT_IN_HEADER);

const apiKey = headerText.describe('An API key that the provider issued to the customer.');

const basicAuth = z
  .object({
    username,
    password: possiblyEmptyText.describe('The password at the provider. May be empty.'),
  })
  .meta({
    id: 'BasicAuthInput',
    description: 'Credentials for HTTP Basic authentication: a user name and a password.',
  });

const oauth2ClientCredentials = z.object({ clientId, clientSecret, scopes }).meta({
  id: 'OAuth2ClientCredentialsInput',
  description: 'Credentials for the OAuth client credentials grant, which needs no user.',
});

const oauth2PasswordCredentials = z
  .object({
    username,
    password: requiredText.describe('The password at the provider.'),
    clientId,
    clientSecret,
    scopes,
  })
  .meta({
    id: 'OAuth2PasswordCredentialsInput',
    description:
      'Credentials for the OAuth password grant: a user name and a password, which the gateway exchanges for a token.',
  });

export const oauth2Token = z
  .object({
    token: headerText.describe('The value of the token.'),
    issueTime: z.date().nullish().describe('When the token was issued. Default: unknown.'),
    expireTime: z.date().nullish().describe('When the token expires. Default: unknown.'),
  })
  .meta({ id: 'OAuth2TokenInput', description: 'An OAuth token and its lifetime.' });

const oauth2AuthorizationCode = z
  .object({
    accessToken: oauth2Token
      .nullish()
      .describe('The token that authenticates requests to the provider.'),
    refreshToken: oauth2Token.nullish().describe('The token that obtains new access tokens.'),
    scopes: oauthScopes
      .nullish()
      .describe(
        'The OAuth scopes that the provider granted. Without tokens, the scopes to request from the person.',
      ),
  })
  .superRefine(
    checkRules(function* ({ accessToken, refreshToken, scopes }) {
      if (accessToken || refreshToken || scopes?.length) return;
      const tokens = joinTexts([member('accessToken'), member('refreshToken')], ', ');
      const detail = text`must include ${tokens}, or ${member('scopes')} to request.`;
      yield createRuleIssue([], detail);
    }),
  )
  .meta({
    id: 'OAuth2AuthorizationCodeInput',
    description:
      "OAuth tokens to import, which the customer has already granted. With only scopes, the connection waits for the customer's consent: request it with startOAuthUpdate.",
  });

const customAuth = boundedJsonObject.describe("Values of the provider's custom inputs, by name.");

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

/** The schemes for which each field can be used. */
export const SCHEMES_BY_FIELD: Record<CredentialField, readonly AuthScheme[]> = {
  apiKey: ['API_KEY'],
  basicAuth: ['BASIC'],
  oauth2ClientCredentials: ['OAUTH2_CLIENT_CREDENTIALS'],
  oauth2PasswordCredentials: ['OAUTH2_PASSWORD'],
  oauth2AuthorizationCode: CONSENT_SCHEMES,
  customAuth: ['NONE'],
};
export const CREDENTIAL_FIELDS = Object.keys(SCHEMES_BY_FIELD) as CredentialField[];

/**
 * Converts the credential field of an input to the stored credentials. An input without a field becomes credentials of
 * the scheme NONE.
 */
export function parseCredentials(
  { authScheme: scheme, custom }: { authScheme: AuthScheme; custom: Provider['custom'] },
  input: CredentialInput,
): Credentials {
  const { oauth2ClientCredentials, oauth2PasswordCredentials, oauth2AuthorizationCode } = input;
  if (input.apiKey != null) return { scheme: 'API_KEY', apiKey: input.apiKey };
  if (input.basicAuth) return { scheme: 'BASIC', ...input.basicAuth };
  if (oauth2ClientCredentials) {
    const scopes = oauth2ClientCredentials.scopes ?? [];
    return { scheme: 'OAUTH2_CLIENT_CREDENTIALS', ...oauth2ClientCredentials, scopes };
  }
  if (oauth2PasswordCredentials) {
    const scopes = oauth2PasswordCredentials.scopes ?? [];
    return { scheme: 'OAUTH2_PASSWORD', ...oauth2PasswordCredentials, scopes };
  }
  if (oauth2AuthorizationCode) {
    const { accessToken, refreshToken, scopes } = oauth2AuthorizationCode;
    const isPkce = scheme === 'OAUTH2_AUTHORIZATION_CODE_PKCE';
    return {
      scheme: isPkce ? 'OAUTH2_AUTHORIZATION_CODE_PKCE' : 'OAUTH2_AUTHORIZATION_CODE',
      accessToken: toStoredToken(accessToken),
      refreshToken: toStoredToken(refreshToken),
      scopes: scopes ?? [],
    };
  }
  if (input.customAuth && custom?.grant) {
    return { scheme: 'SERVICE_ACCOUNT', custom: input.customAuth };
  }
  return { scheme: 'NONE', custom: input.customAuth ?? {} };
}

function toStoredToken(
  input: z.input<typeof oauth2Token> | null | undefined,
): StoredToken | undefined {
  if (!input) return undefined;
  const { token, issueTime, expireTime } = input;
  return { token, issuedAt: issueTime?.toISOString(), expiresAt: expireTime?.toISOString() };
}
