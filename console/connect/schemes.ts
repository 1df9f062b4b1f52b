/** The inputs that a person enters for each scheme, and their form in the API. */
import type { Messages } from './messages.ts';

interface SchemeInput {
  name: string;
  label: string;
  isSecret?: boolean;
  isOptional?: boolean;
  help?: string;
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

/** The inputs of a scheme. `NONE` takes the inputs that the provider declares for `customAuth`. */
export function listInputs(
  messages: Messages,
  scheme: string,
  custom: readonly DeclaredInput[],
): SchemeInput[] {
  if (scheme !== 'NONE') return listInputsByScheme(messages)[scheme] ?? [];
  return custom.map(({ name, displayName, optional }) => ({
    name: `customAuth.${name}`,
    label: displayName,
    isSecret: true,
    isOptional: optional,
  }));
}

interface DeclaredInput {
  name: string;
  displayName: string;
  optional: boolean;
}

/** Consent happens in a window of the provider. */
export const isByConsent = (scheme: string) => scheme.startsWith('OAUTH2_AUTHORIZATION_CODE');

/**
 * The schemes that a person chooses from. PKCE is not a choice of its own; `NONE` is one only if it takes inputs or is
 * the only scheme.
 */
export function listChoices(schemes: readonly string[], hasCustomInputs: boolean): string[] {
  const consents = schemes.filter(isByConsent).slice(0, 1);
  const otherSchemes = schemes.filter((scheme) => !isByConsent(scheme) && scheme !== 'NONE');
  const choices = [...consents, ...otherSchemes, ...(hasCustomInputs ? ['NONE'] : [])];
  return choices.length > 0 ? choices : [...schemes];
}

export function describeScheme(
  messages: Messages,
  scheme: string,
  hasCustomInputs: boolean,
): string {
  const words: Record<string, string> = {
    API_KEY: messages.byApiKey,
    BASIC: messages.byPassword,
    OAUTH2_AUTHORIZATION_CODE: messages.byConsent,
    OAUTH2_AUTHORIZATION_CODE_PKCE: messages.byConsent,
    OAUTH2_CLIENT_CREDENTIALS: messages.byClient,
    OAUTH2_PASSWORD: messages.byPasswordAndClient,
    NONE: hasCustomInputs ? messages.byCustomInputs : messages.byNothing,
  };
  return words[scheme] ?? scheme;
}

/** `{ 'credentials.basicAuth.username': 'a' }` as `{ credentials: { basicAuth: { username: 'a' } } }`. */
export function nestValues(values: Record<string, FormDataEntryValue>, names: readonly string[]) {
  const result: Record<string, unknown> = {};
  for (const name of names) {
    const value = values[name];
    if (value === undefined || value === '') continue;
    const path = name.split('.');
    const lastKey = path.pop() as string;
    let parent = result;
    for (const part of path) {
      parent[part] ??= {};
      parent = parent[part] as Record<string, unknown>;
    }
    parent[lastKey] = value;
  }
  return result;
}
