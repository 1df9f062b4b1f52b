/** The inputs that a person enters for each scheme, and their form in the API. */
interface SchemeInput {
  name: string;
  label: string;
  isSecret?: boolean;
  isOptional?: boolean;
  help?: string;
}

const INPUTS: Record<string, SchemeInput[]> = {
  API_KEY: [
    {
      name: 'apiKey',
      label: 'API key',
      isSecret: true,
      help: "You find it in your account's settings.",
    },
  ],
  BASIC: [
    { name: 'basicAuth.username', label: 'User name' },
    { name: 'basicAuth.password', label: 'Password', isSecret: true },
  ],
  OAUTH2_CLIENT_CREDENTIALS: [
    { name: 'oauth2ClientCredentials.clientId', label: 'Client ID' },
    { name: 'oauth2ClientCredentials.clientSecret', label: 'Client secret', isSecret: true },
  ],
  OAUTH2_PASSWORD: [
    { name: 'oauth2PasswordCredentials.username', label: 'User name' },
    { name: 'oauth2PasswordCredentials.password', label: 'Password', isSecret: true },
    { name: 'oauth2PasswordCredentials.clientId', label: 'Client ID' },
    { name: 'oauth2PasswordCredentials.clientSecret', label: 'Client secret', isSecret: true },
  ],
};

/** The inputs of a scheme. `NONE` takes the inputs that the provider declares for `customAuth`. */
export function inputsOf(scheme: string, custom: readonly DeclaredInput[]): SchemeInput[] {
  if (scheme !== 'NONE') return INPUTS[scheme] ?? [];
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
export function choicesOf(schemes: readonly string[], hasCustomInputs: boolean): string[] {
  const consents = schemes.filter(isByConsent).slice(0, 1);
  const otherSchemes = schemes.filter((scheme) => !isByConsent(scheme) && scheme !== 'NONE');
  const choices = [...consents, ...otherSchemes, ...(hasCustomInputs ? ['NONE'] : [])];
  return choices.length > 0 ? choices : [...schemes];
}

const SCHEME_WORDS: Record<string, string> = {
  API_KEY: 'With an API key',
  BASIC: 'With a user name and a password',
  OAUTH2_AUTHORIZATION_CODE: 'By signing in at the provider',
  OAUTH2_AUTHORIZATION_CODE_PKCE: 'By signing in at the provider',
  OAUTH2_CLIENT_CREDENTIALS: 'With a client ID and its secret',
  OAUTH2_PASSWORD: 'With a user name, a password and a client',
  NONE: 'Without credentials',
  CUSTOM: "With credentials of the provider's own kind",
};

export function wordsOf(scheme: string, hasCustomInputs: boolean): string {
  const schemeWords =
    scheme === 'NONE' && hasCustomInputs ? SCHEME_WORDS.CUSTOM : SCHEME_WORDS[scheme];
  return schemeWords ?? scheme;
}

/** `{ 'credentials.basicAuth.username': 'a' }` as `{ credentials: { basicAuth: { username: 'a' } } }`. */
export function nested(values: Record<string, FormDataEntryValue>, names: readonly string[]) {
  const result: Record<string, unknown> = {};
  for (const name of names) {
    const value = values[name];
    if (value === undefined || value === '') continue;
    const path = name.split('.');
    const last = path.pop() as string;
    let holder = result;
    for (const part of path) {
      holder[part] ??= {};
      holder = holder[part] as Record<string, unknown>;
    }
    holder[last] = value;
  }
  return result;
}
