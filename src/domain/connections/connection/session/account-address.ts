/**
 * Builds the addresses of a connection's account from a provider's templates with `{{variables}}`. The value of a
 * variable can't change other parts of the address, so that credentials are never sent to another host.
 */
import { formatPath, type Path } from '../../../../kernel/text.ts';
import type { OAuth2Settings, Provider } from '../../../../providers/contract.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import {
  findAddressProblem,
  formatAllowedHosts,
  isAllowedHost,
  isHostLabels,
  isWholeAddress,
  type ProviderHosts,
} from '../../provider/provider-workspace.ts';

export interface AccountMetadataInput {
  providerWorkspaceRef?: string | null | undefined;
  providerMetadata?: unknown;
}

export interface AccountMetadata {
  providerWorkspaceRef: string | null;
  providerMetadata: unknown;
}

const VARIABLE = /\{\{(\w+)\}\}/g;
/** The characters and the length that are valid in a path and in a header. */
export const PRINTABLE = /^[\x20-\x7e]{1,1024}$/;

interface AddressProblem {
  variable: string;
  detail: string;
}

/** Returns the workspace of the input: `providerWorkspaceRef`, or the member `workspace` of `providerMetadata`. */
export function findWorkspaceRef({
  providerWorkspaceRef = null,
  providerMetadata,
}: AccountMetadataInput): string | null {
  return findVariable('workspace', { providerWorkspaceRef, providerMetadata });
}

/** Returns the provider with the OAuth endpoints of the account: those of the shared login without a workspace. */
export function applyLogin<P extends Provider & { oauth2: OAuth2Settings }>(
  provider: P,
  account: AccountMetadata,
): P {
  const { oauth2 } = provider;
  return findWorkspaceRef(account) === null
    ? { ...provider, oauth2: { ...oauth2, ...oauth2.sharedLogin } }
    : provider;
}

/** Fills in the variables of an address. Throws BAD_REQUEST that names the first variable that is missing or unusable. */
export function fillAddress(
  provider: ProviderHosts,
  template: string,
  account: AccountMetadata,
): string {
  const [problem] = listAddressProblems(provider, [template], account);
  if (problem) {
    const { variable, detail } = problem;
    throw new ProviderError('BAD_REQUEST', `The connection's ${toInputMember(variable)} ${detail}`);
  }
  const address = template.replaceAll(VARIABLE, (_all, name) =>
    trimSlashes(findVariable(name, account) ?? ''),
  );
  return trimSlashes(address);
}

function trimSlashes(address: string): string {
  return address.replace(/\/+$/, '');
}

/**
 * Returns the origin of an address, whose path may have variables without values. Null if a variable of the host is
 * missing or unusable.
 */
export function findOrigin(
  provider: ProviderHosts,
  template: string,
  account: AccountMetadata,
): string | null {
  const [host = template] = /^https?:\/\/[^/]*/.exec(template) ?? [];
  if (listAddressProblems(provider, [host], account).length > 0) return null;
  return URL.parse(fillAddress(provider, host, account))?.origin ?? null;
}

/**
 * Fills in the variables of headers, and converts their names to lower case. Throws BAD_REQUEST that names the first
 * variable that is missing or invalid in a header.
 */
export function fillHeaders(
  templates: Readonly<Record<string, string>>,
  account: AccountMetadata,
): Record<string, string> {
  const fill = (template: string) =>
    template.replaceAll(VARIABLE, (_all, name: string) => {
      const value = findVariable(name, account);
      if (value !== null && PRINTABLE.test(value)) return value;
      const detail = value === null ? 'is required but missing.' : 'must be a single line of text.';
      throw new ProviderError('BAD_REQUEST', `The connection's ${toInputMember(name)} ${detail}`);
    });
  return Object.fromEntries(
    Object.entries(templates).map(([name, template]) => [name.toLowerCase(), fill(template)]),
  );
}

/** Lists the variables that are missing or unusable, each once. */
export function listAddressProblems(
  provider: ProviderHosts,
  templates: readonly string[],
  account: AccountMetadata,
): AddressProblem[] {
  const problems = templates.flatMap((template) =>
    listVariables(template).flatMap((variable) => {
      const detail = findProblem(provider, { template, variable }, findVariable(variable, account));
      return detail === null ? [] : [{ variable, detail }];
    }),
  );
  return [...new Map(problems.map((problem) => [problem.variable, problem])).values()];
}

export function listVariables(template: string): string[] {
  return [...template.matchAll(VARIABLE)].map(([, variable = '']) => variable);
}

/** Returns the path of a variable in the input: `providerWorkspaceRef`, or a member of `providerMetadata`. */
export function toInputMember(variable: string): string {
  return formatPath(toInputPath(variable));
}

/** Returns the path of a variable in the input of a connection. */
export function toInputPath(variable: string): Path {
  return variable === 'workspace' ? ['providerWorkspaceRef'] : ['providerMetadata', variable];
}

function findProblem(
  provider: ProviderHosts,
  { template, variable }: { template: string; variable: string },
  value: string | null,
): string | null {
  if (value === null) return 'is required for the address but missing.';
  if (isWholeAddress(template, variable)) return findAddressProblem(provider, variable, value);
  if (!isHostLabels(value)) return 'must be letters, digits and dashes, separated by dots.';
  if (isAllowedHost(provider, variable, value)) return null;
  return `must be ${formatAllowedHosts(provider, variable)}.`;
}

/**
 * Finds the value of a variable. Members of the metadata are strings, or `{ value }` as in the reference API. Web pages
 * send the workspace as a member too.
 */
export function findVariable(
  name: string,
  { providerWorkspaceRef, providerMetadata }: AccountMetadata,
): string | null {
  if (name === 'workspace' && providerWorkspaceRef !== null) return providerWorkspaceRef;
  const metadata = Object(providerMetadata);
  const member: unknown = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
  const isWrapped = typeof member === 'object' && member !== null && 'value' in member;
  const value = isWrapped ? member.value : member;
  return typeof value === 'string' && value !== '' ? value : null;
}
