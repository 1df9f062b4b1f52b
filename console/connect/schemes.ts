/** What each scheme needs of a person, and how the API takes it. */
export interface Input {
  name: string;
  label: string;
  isSecret?: boolean;
  isOptional?: boolean;
  help?: string;
}

const INPUTS: Record<string, Input[]> = {
  API_KEY: [
    {
      name: 'apiKey',
      label: 'API key',
      isSecret: true,
      help: "You find it in the account's settings.",
    },
  ],
  BASIC: [
    { name: 'basicAuth.username', label: 'User name' },
    { name: 'basicAuth.password', label: 'Password', isSecret: true },
  ],
  OAUTH2_CLIENT_CREDENTIALS: [
    { name: 'oauth2ClientCredentials.clientId', label: 'Client id' },
    { name: 'oauth2ClientCredentials.clientSecret', label: 'Client secret', isSecret: true },
  ],
  OAUTH2_PASSWORD: [
    { name: 'oauth2PasswordCredentials.username', label: 'User name' },
    { name: 'oauth2PasswordCredentials.password', label: 'Password', isSecret: true },
    { name: 'oauth2PasswordCredentials.clientId', label: 'Client id' },
    { name: 'oauth2PasswordCredentials.clientSecret', label: 'Client secret', isSecret: true },
  ],
};

/** What a scheme takes: `NONE` the inputs that the provider declares for `customAuth`. */
export function inputsOf(scheme: string, custom: readonly DeclaredInput[]): Input[] {
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

/** Consent in a window of the provider. */
export const isByConsent = (scheme: string) => scheme.startsWith('OAUTH2_AUTHORIZATION_CODE');

/** The ways that a person chooses from: PKCE is no choice of theirs, and no scheme is one only if it takes inputs, or is all. */
export function choicesOf(schemes: readonly string[], hasCustomInputs: boolean): string[] {
  const consents = schemes.filter(isByConsent).slice(0, 1);
  const rest = schemes.filter((one) => !isByConsent(one) && one !== 'NONE');
  const choices = [...consents, ...rest, ...(hasCustomInputs ? ['NONE'] : [])];
  return choices.length > 0 ? choices : [...schemes];
}

const SCHEME_WORDS: Record<string, string> = {
  API_KEY: 'With an API key',
  BASIC: 'With a user name and a password',
  OAUTH2_AUTHORIZATION_CODE: 'By signing in there',
  OAUTH2_AUTHORIZATION_CODE_PKCE: 'By signing in there',
  OAUTH2_CLIENT_CREDENTIALS: 'With a client id and its secret',
  OAUTH2_PASSWORD: 'With a user name, a password and a client',
  NONE: 'Without credentials',
  CUSTOM: 'As the provider asks for it',
};

export function wordsOf(scheme: string, hasCustomInputs: boolean): string {
  const known = scheme === 'NONE' && hasCustomInputs ? SCHEME_WORDS.CUSTOM : SCHEME_WORDS[scheme];
  return known ?? scheme;
}

/** `{ 'basicAuth.username': 'a' }` as `{ basicAuth: { username: 'a' } }`. */
export function nested(values: Record<string, FormDataEntryValue>, names: readonly string[]) {
  const result: Record<string, unknown> = {};
  for (const name of names) {
    const value = values[name];
    if (value === undefined || value === '') continue;
    const [outer = '', inner] = name.split('.');
    if (inner === undefined) result[outer] = value;
    else result[outer] = { ...(result[outer] as object | undefined), [inner]: value };
  }
  return result;
}
