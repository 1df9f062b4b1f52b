/** Chooses the authentication scheme of a connection from the credential field of the input. */
import type { Issue } from '../../errors.ts';
import type { AuthScheme, Provider } from '../../providers/contract.ts';
import {
  CREDENTIAL_FIELDS,
  type CredentialField,
  type CredentialInput,
  SCHEMES_OF_FIELD,
} from './credential-input.ts';
import { serviceAccountProblems } from './token/service-account.ts';

export interface Choice {
  /** Null if no scheme fits. `issues` then gives the reason. */
  scheme: AuthScheme | null;
  issues: Issue[];
}

/** The scheme of a new connection. `authScheme` matters only if several schemes fit the credential field. */
export function chooseScheme(
  provider: Provider,
  { authScheme, ...input }: CredentialInput & { authScheme?: AuthScheme | null },
): Choice {
  const fields = givenFields(input);
  const [field] = fields;
  if (fields.length > 1) return refused(givenTogether(fields));
  if (!field) return withoutCredentials(provider, authScheme);
  const fitting = schemesThatFit(provider, field);
  const [preferred] = fitting;
  if (!preferred) return refused([doesNotFit(field, provider)]);
  if (authScheme && !fitting.includes(authScheme)) {
    const detail = `contradicts ${field}, which is for ${fitting.join(' or ')}.`;
    return refused([issue('authScheme', detail, authScheme)]);
  }
  const issues = field === 'customAuth' ? customAuthIssues(provider, input) : [];
  return { scheme: issues.length > 0 ? null : (authScheme ?? preferred), issues };
}

/** Issues with replacing the credentials of a connection that has this scheme. */
export function replacementIssues(
  provider: Provider | null,
  scheme: AuthScheme,
  input: CredentialInput,
): Issue[] {
  const fields = givenFields(input);
  const [field] = fields;
  if (!field) return [];
  if (fields.length > 1) return givenTogether(fields);
  if (!SCHEMES_OF_FIELD[field].includes(scheme)) {
    return [issue(field, `does not fit the connection, whose scheme is ${scheme}.`)];
  }
  return provider && field === 'customAuth' ? customAuthIssues(provider, input) : [];
}

export function givenFields(input: CredentialInput): CredentialField[] {
  return CREDENTIAL_FIELDS.filter((field) => input[field] != null);
}

/** Returns the schemes in the provider's order of preference. */
function schemesThatFit(provider: Provider, field: CredentialField): AuthScheme[] {
  if (field === 'customAuth' && !provider.custom) return [];
  return provider.authSchemes.filter((scheme) => SCHEMES_OF_FIELD[field].includes(scheme));
}

function withoutCredentials(provider: Provider, authScheme: AuthScheme | null | undefined): Choice {
  const { authSchemes } = provider;
  const onlyNone = authSchemes.every((scheme) => scheme === 'NONE');
  if (authScheme && !authSchemes.includes(authScheme)) {
    const detail = `is not a scheme of ${provider.name}, which takes ${authSchemes.join(', ')}.`;
    return refused([issue('authScheme', detail, authScheme)]);
  }
  if ((authScheme ?? (onlyNone ? 'NONE' : null)) === 'NONE') {
    // If the provider accepts only custom inputs, a connection without them is unusable.
    const issues = onlyNone ? customAuthIssues(provider, {}) : [];
    return { scheme: issues.length > 0 ? null : 'NONE', issues };
  }
  const needed = CREDENTIAL_FIELDS.filter((field) =>
    schemesThatFit(provider, field).some((scheme) => !authScheme || scheme === authScheme),
  );
  const detail = `needs credentials for ${provider.name}: ${needed.join(' or ')}.`;
  return refused([{ in: 'body', name: 'input', detail }]);
}

/** Issues for custom inputs that are missing, unknown or unusable. */
function customAuthIssues({ name, custom }: Provider, { customAuth }: CredentialInput): Issue[] {
  if (!custom) return customAuth ? [issue('customAuth', `does not fit ${name}.`)] : [];
  const names = custom.inputs.map((input) => input.name);
  if (!customAuth) {
    return [issue('customAuth', `is needed for ${name}, with ${names.join(', ')}.`)];
  }
  const unknown = Object.keys(customAuth).filter((key) => !names.includes(key));
  const missing = custom.inputs.filter(
    ({ name: key, optional }) => !optional && !isUsable(customAuth[key]),
  );
  const isMissing = (key: string) => missing.some((input) => input.name === key);
  const unusable = custom.serviceAccount
    ? serviceAccountProblems(custom.serviceAccount, customAuth)
    : [];
  return [
    ...unknown.map((key) =>
      issue(`customAuth.${key}`, `is not an input of ${name}, which has ${names.join(', ')}.`),
    ),
    ...missing.map(({ name: key }) =>
      issue(`customAuth.${key}`, 'must be given: text that is not empty, or JSON.'),
    ),
    ...unusable
      .filter(({ input }) => !isMissing(input))
      .map(({ input, detail }) => issue(`customAuth.${input}`, detail)),
  ];
}

function isUsable(value: unknown): boolean {
  return typeof value === 'string' ? value !== '' : typeof value === 'object' && value !== null;
}

function doesNotFit(field: CredentialField, { name, authSchemes }: Provider): Issue {
  return issue(field, `does not fit ${name}, which takes ${authSchemes.join(', ')}.`);
}

function givenTogether(fields: CredentialField[]): Issue[] {
  return fields.map((field) => {
    const others = fields.filter((other) => other !== field);
    return issue(field, `must not be given together with ${others.join(', ')}.`);
  });
}

function refused(issues: Issue[]): Choice {
  return { scheme: null, issues };
}

function issue(field: string, detail: string, value?: unknown): Issue {
  return { in: 'body', name: `input.${field}`, detail, ...(value === undefined ? {} : { value }) };
}
