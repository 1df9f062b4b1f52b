/** The only module that attaches credentials to requests. */
import type { Attachment, Provider } from '../../../../providers/contract.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import type { Services } from '../../../access/call.ts';
import type { Credentials } from '../credentials.ts';
import { AWAITS_CONSENT, awaitsConsent, findStoredToken } from '../token/token.ts';
import { type SignableRequest, signForHost } from './aws-signature.ts';

export interface AttachedCredentials {
  /** Values by lower-case names. */
  headers: Record<string, string>;
  query: Record<string, string>;
  /** Returns further headers, which sign the request with its final headers and body. */
  sign?: (request: SignableRequest) => Record<string, string>;
}

const AS_BEARER: Attachment = { in: 'header', name: 'authorization', valuePrefix: 'Bearer ' };
/** The valid characters of a header value. Other characters could end the header and start another. */
export const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Returns the headers and the query parameters that authenticate a request. Throws BAD_REQUEST if the provider does not
 * support this kind of credentials, or if they contain characters that are invalid in a header.
 */
export function attachCredentials(
  { now }: Pick<Services, 'now'>,
  provider: Provider,
  credentials: Credentials,
): AttachedCredentials {
  const attached = selectAttachment(provider, credentials, now);
  if (Object.values(attached.headers).every((value) => HEADER_TEXT.test(value))) return attached;
  throw new ProviderError(
    'BAD_REQUEST',
    'The credentials contain characters that are invalid in an HTTP header.',
  );
}

function selectAttachment(
  provider: Provider,
  credentials: Credentials,
  now: () => Date,
): AttachedCredentials {
  if (awaitsConsent(credentials)) throw new ProviderError('BAD_REQUEST', AWAITS_CONSENT);
  switch (credentials.scheme) {
    case 'API_KEY':
      if (!provider.apiKey) throw createUnsupportedCredentialsError(provider);
      return attachAt(provider.apiKey, credentials.apiKey);
    case 'BASIC': {
      const { username, password } = credentials;
      if (provider.signature === 'AWS4') {
        const key = { id: username, secret: password };
        return { headers: {}, query: {}, sign: (request) => signForHost(key, request, now()) };
      }
      return {
        headers: { authorization: createBasicAuthorization(username, password) },
        query: {},
      };
    }
    case 'NONE':
      return fillTemplates(provider, credentials.custom);
    case 'SERVICE_ACCOUNT': {
      const token = findStoredToken(credentials)?.token;
      const grant = provider.custom?.grant;
      if (!grant || token === undefined) throw createUnsupportedCredentialsError(provider);
      return attachAt(grant.type === 'LOGIN' ? grant.login.attachment : AS_BEARER, token);
    }
    default: {
      const token = findStoredToken(credentials)?.token;
      if (!provider.oauth2 || token === undefined) {
        throw createUnsupportedCredentialsError(provider);
      }
      return attachAt(provider.oauth2.tokenAttachment ?? AS_BEARER, token);
    }
  }
}

export function createBasicAuthorization(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

function attachAt(attachment: Attachment, secret: string): AttachedCredentials {
  if (attachment.in === 'query') return { headers: {}, query: { [attachment.name]: secret } };
  const value = `${attachment.valuePrefix ?? ''}${secret}`;
  return { headers: { [attachment.name.toLowerCase()]: value }, query: {} };
}

function fillTemplates({ custom }: Provider, inputs: Record<string, unknown>): AttachedCredentials {
  // The provider accepts requests without credentials, and the connection has none.
  if (!custom || Object.keys(inputs).length === 0) return { headers: {}, query: {} };
  const fill = (template: string) =>
    template.replaceAll(/\{\{(\w+)\}\}/g, (_all, name) => toText(inputs[name]));
  const { headers = [], queryParams = [] } = custom;
  return {
    headers: Object.fromEntries(
      headers.map(({ name, valueTemplate }) => [name.toLowerCase(), fill(valueTemplate)]),
    ),
    query: Object.fromEntries(
      queryParams.map(({ name, valueTemplate }) => [name, fill(valueTemplate)]),
    ),
  };
}

function toText(input: unknown): string {
  if (input === undefined) return '';
  return typeof input === 'string' ? input : JSON.stringify(input);
}

function createUnsupportedCredentialsError({ displayName }: Provider): ProviderError {
  return new ProviderError(
    'BAD_REQUEST',
    `${displayName} does not support credentials of this kind.`,
  );
}
