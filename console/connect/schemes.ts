/** The inputs that a person enters for each authentication scheme, under their names in the API. */
import type { ReactNode } from 'react';
import { describeInput, type HelpedInput } from './input-help.tsx';
import type { Messages } from './messages.ts';

interface SchemeInput {
  name: string;
  label: string;
  isSecret?: boolean;
  isOptional?: boolean;
  help?: ReactNode;
  defaultValue?: string;
}

function listInputsByScheme(messages: Messages): Record<string, SchemeInput[]> {
  const { apiKey, apiKeyHelp, userName, password, clientId, clientSecret } = messages;
  return {
    API_KEY: [{ name: 'apiKey', label: apiKey, isSecret: true, help: apiKeyHelp }],
    BASIC: [
      { name: 'basicAuth.username', label: userName },
      { name: 'basicAuth.password', label: password, isSecret: true },
    ],
    OAUTH2_CLIENT_CREDENTIALS: [
      { name: 'oauth2ClientCredentials.clientId', label: clientId },
      { name: 'oauth2ClientCredentials.clientSecret', label: clientSecret, isSecret: true },
    ],
    OAUTH2_PASSWORD: [
      { name: 'oauth2PasswordCredentials.username', label: userName },
      { name: 'oauth2PasswordCredentials.password', label: password, isSecret: true },
      { name: 'oauth2PasswordCredentials.clientId', label: clientId },
      { name: 'oauth2PasswordCredentials.clientSecret', label: clientSecret, isSecret: true },
    ],
  };
}

/** Lists the inputs of a scheme. The scheme `NONE` has the inputs that the provider declares for `customAuth`. */
export function listInputs(
  messages: Messages,
  scheme: string,
  custom: readonly DeclaredInput[],
): SchemeInput[] {
  if (scheme !== 'NONE') return listInputsByScheme(messages)[scheme] ?? [];
  return custom.map((input) => ({
    ...describeInput(messages, input),
    name: `customAuth.${input.name}`,
    label: input.displayName,
    isSecret: input.isSecret,
    isOptional: input.optional,
  }));
}

interface DeclaredInput extends HelpedInput {
  name: string;
  optional: boolean;
  isSecret: boolean;
}

/** True if the person consents on a page of the provider. */
export const needsConsent = (scheme: string) => scheme.startsWith('OAUTH2_AUTHORIZATION_CODE');

/**
 * Lists the schemes that a person can choose. The schemes with and without PKCE are one choice. `NONE` is a choice only
 * if it has inputs or if there is no other scheme.
 */
export function listChoices(schemes: readonly string[], hasCustomInputs: boolean): string[] {
  const consentSchemes = schemes.filter(needsConsent).slice(0, 1);
  const otherSchemes = schemes.filter((scheme) => !needsConsent(scheme) && scheme !== 'NONE');
  const choices = [...consentSchemes, ...otherSchemes, ...(hasCustomInputs ? ['NONE'] : [])];
  return choices.length > 0 ? choices : [...schemes];
}

export function describeScheme(
  messages: Messages,
  scheme: string,
  hasCustomInputs: boolean,
): string {
  const labels: Record<string, string> = {
    API_KEY: messages.withApiKey,
    BASIC: messages.withPassword,
    OAUTH2_AUTHORIZATION_CODE: messages.bySigningIn,
    OAUTH2_AUTHORIZATION_CODE_PKCE: messages.bySigningIn,
    OAUTH2_CLIENT_CREDENTIALS: messages.withClient,
    OAUTH2_PASSWORD: messages.withPasswordAndClient,
    NONE: hasCustomInputs ? messages.withCustomInputs : messages.withoutCredentials,
  };
  return labels[scheme] ?? scheme;
}

/** Turns `{ 'basicAuth.username': 'a' }` into `{ basicAuth: { username: 'a' } }`, for the given names. */
export function nestValues(values: Record<string, FormDataEntryValue>, names: readonly string[]) {
  const result: Record<string, unknown> = {};
  for (const name of names) {
    const value = values[name];
    if (value === undefined || value === '') continue;
    const path = name.split('.');
    const lastKey = path.pop() as string;
    let parent = result;
    for (const key of path) {
      parent[key] ??= {};
      parent = parent[key] as Record<string, unknown>;
    }
    parent[lastKey] = value;
  }
  return result;
}

/**
 * Returns the text of a member of `providerMetadata`, which may be an object with the text as `value`. Undefined if there
 * is none.
 */
export function findMember(metadata: unknown, name: string): string | undefined {
  const member: unknown = Object(metadata)[name];
  const text: unknown = typeof member === 'object' ? Object(member).value : member;
  return typeof text === 'string' && text !== '' ? text : undefined;
}
