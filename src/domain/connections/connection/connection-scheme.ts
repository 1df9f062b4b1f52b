/** Chooses the authentication scheme of a connection by the credential field of the input. */

import type { Issue } from '../../../kernel/errors.ts';
import { joinTexts, member, text } from '../../../kernel/text.ts';
import { FIELD_VALUE } from '../../../outbound/exchange.ts';
import type { AuthScheme, Provider } from '../../../providers/contract.ts';
import { createInputIssue } from '../../base/issues.ts';
import { nameScheme } from '../provider/provider.ts';
import {
  CREDENTIAL_FIELDS,
  type CredentialField,
  type CredentialInput,
  NOT_IN_HEADER,
  SCHEMES_BY_FIELD,
} from './credential-input.ts';
import { listGrantProblems } from './token/input-grant.ts';

export interface SchemeChoice {
  /** Null if no scheme fits, for the reasons in `issues`. */
  scheme: AuthScheme | null;
  issues: Issue[];
}

/** Chooses the scheme of a new connection. `authScheme` decides if several schemes fit the credential field. */
export function chooseScheme(
  provider: Provider,
  { authScheme, ...input }: CredentialInput & { authScheme?: AuthScheme | null },
): SchemeChoice {
  const fields = listCredentialFields(input);
  const [field] = fields;
  if (fields.length > 1) return rejectChoice(listCombinationIssues(fields));
  if (!field) return chooseWithoutCredentials(provider, authScheme);
  const schemes = listFittingSchemes(provider, field);
  const [preferred] = schemes;
  if (!preferred) return rejectChoice([createUnsupportedIssue(field, provider)]);
  if (authScheme && !schemes.includes(authScheme)) {
    const detail = text`does not match ${member(field)}, which requires ${joinTexts(schemes.map(nameScheme), ' or ')}.`;
    return rejectChoice([createInputIssue(['authScheme'], detail, authScheme)]);
  }
  const issues = field === 'customAuth' ? listCustomAuthIssues(provider, input) : [];
  return { scheme: issues.length > 0 ? null : (authScheme ?? preferred), issues };
}

/** Lists the issues of new credentials for a connection with this scheme. */
export function listReplacementIssues(
  provider: Provider | null,
  scheme: AuthScheme,
  input: CredentialInput,
): Issue[] {
  const fields = listCredentialFields(input);
  const [field] = fields;
  if (!field) return [];
  if (fields.length > 1) return listCombinationIssues(fields);
  if (!SCHEMES_BY_FIELD[field].includes(scheme)) {
    return [
      createInputIssue(
        [field],
        text`does not match the scheme of the connection, ${nameScheme(scheme)}.`,
      ),
    ];
  }
  return provider && field === 'customAuth' ? listCustomAuthIssues(provider, input) : [];
}

export function listCredentialFields(input: CredentialInput): CredentialField[] {
  return CREDENTIAL_FIELDS.filter((field) => input[field] != null);
}

/** Lists the schemes that fit a field, in the provider's order of preference. */
function listFittingSchemes(provider: Provider, field: CredentialField): AuthScheme[] {
  if (field === 'customAuth' && !provider.custom) return [];
  return provider.authSchemes.filter((scheme) => SCHEMES_BY_FIELD[field].includes(scheme));
}

function chooseWithoutCredentials(
  provider: Provider,
  authScheme: AuthScheme | null | undefined,
): SchemeChoice {
  const { authSchemes } = provider;
  const hasOnlyNone = authSchemes.every((scheme) => scheme === 'NONE');
  if (authScheme && !authSchemes.includes(authScheme)) {
    const detail = text`is not a scheme of ${provider.name}, which supports ${joinTexts(authSchemes.map(nameScheme), ', ')}.`;
    return rejectChoice([createInputIssue(['authScheme'], detail, authScheme)]);
  }
  if (authScheme === 'NONE' || (!authScheme && hasOnlyNone)) {
    // If the provider accepts only custom inputs, a connection without them is unusable.
    const issues = hasOnlyNone ? listCustomAuthIssues(provider, {}) : [];
    return { scheme: issues.length > 0 ? null : 'NONE', issues };
  }
  const fields = CREDENTIAL_FIELDS.filter((field) =>
    listFittingSchemes(provider, field).some((scheme) => !authScheme || scheme === authScheme),
  );
  const detail = text`must include credentials for ${provider.name}: ${joinTexts(
    fields.map((field) => member(field)),
    ' or ',
  )}.`;
  return rejectChoice([{ path: [], detail }]);
}

/** Lists the custom inputs that are missing, unknown or unusable. */
function listCustomAuthIssues(
  { name, custom }: Provider,
  { customAuth }: CredentialInput,
): Issue[] {
  if (!custom) {
    return customAuth ? [createInputIssue(['customAuth'], `is not supported by ${name}.`)] : [];
  }
  const inputNames = custom.inputs.map((input) => input.name);
  if (!customAuth) {
    const detail = `is required for ${name}, with ${inputNames.join(', ')}.`;
    return [createInputIssue(['customAuth'], detail)];
  }
  const unknownNames = Object.keys(customAuth).filter((key) => !inputNames.includes(key));
  const missingNames = custom.inputs
    .filter((input) => !input.optional && !isUsable(customAuth[input.name]))
    .map((input) => input.name);
  const problems = custom.grant ? listGrantProblems(custom.grant, customAuth) : [];
  const createIssue = (input: string, detail: string) =>
    createInputIssue(['customAuth', input], detail);
  return [
    ...unknownNames.map((input) =>
      createIssue(input, `is not an input of ${name}, which has ${inputNames.join(', ')}.`),
    ),
    ...missingNames.map((input) => createIssue(input, 'must be non-empty text or JSON.')),
    ...inputNames
      .filter((input) => isSentInHeader(custom, input) && !isHeaderValue(customAuth[input]))
      .map((input) => createIssue(input, NOT_IN_HEADER)),
    ...problems
      .filter(({ input }) => !missingNames.includes(input))
      .map(({ input, detail }) => createIssue(input, detail)),
  ];
}

function isSentInHeader({ headers = [] }: NonNullable<Provider['custom']>, input: string): boolean {
  return headers.some(({ valueTemplate }) => valueTemplate.includes(`{{${input}}}`));
}

/** True if a header can hold the value. A value that is not text is reported elsewhere. */
function isHeaderValue(value: unknown): boolean {
  return typeof value !== 'string' || FIELD_VALUE.test(value);
}

function isUsable(value: unknown): boolean {
  return typeof value === 'string' ? value !== '' : typeof value === 'object' && value !== null;
}

function createUnsupportedIssue(field: CredentialField, { name, authSchemes }: Provider): Issue {
  return createInputIssue(
    [field],
    text`is not supported by ${name}, which supports ${joinTexts(authSchemes.map(nameScheme), ', ')}.`,
  );
}

function listCombinationIssues(fields: CredentialField[]): Issue[] {
  return fields.map((field) => {
    const otherFields = fields.filter((candidate) => candidate !== field);
    return createInputIssue(
      [field],
      text`must not be combined with ${joinTexts(
        otherFields.map((other) => member(other)),
        ', ',
      )}.`,
    );
  });
}

function rejectChoice(issues: Issue[]): SchemeChoice {
  return { scheme: null, issues };
}
