/** What each scheme needs of a person, and how the API takes it. */
export interface Input {
  name: string;
  label: string;
  isSecret?: boolean;
  help?: string;
}

export const INPUTS: Record<string, Input[]> = {
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
  NONE: [],
};

/** Consent in a window of the provider. */
export const isByConsent = (scheme: string) => scheme.startsWith('OAUTH2_AUTHORIZATION_CODE');

/** The ways that a person chooses from: PKCE is no choice of theirs, and no scheme is one only where it is all. */
export function choicesOf(schemes: readonly string[]): string[] {
  const consents = schemes.filter(isByConsent).slice(0, 1);
  const rest = schemes.filter((one) => !isByConsent(one) && one !== 'NONE');
  const choices = [...consents, ...rest];
  return choices.length > 0 ? choices : [...schemes];
}

export const SCHEME_WORDS: Record<string, string> = {
  API_KEY: 'With an API key',
  BASIC: 'With a user name and a password',
  OAUTH2_AUTHORIZATION_CODE: 'By signing in there',
  OAUTH2_AUTHORIZATION_CODE_PKCE: 'By signing in there',
  OAUTH2_CLIENT_CREDENTIALS: 'With a client id and its secret',
  OAUTH2_PASSWORD: 'With a user name, a password and a client',
  NONE: 'Without credentials',
};

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
