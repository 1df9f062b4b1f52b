/**
 * Builds the addresses of a connection's account from a provider's templates with `{{variables}}`. A value can't change
 * the rest of the address, so credentials never go to another host.
 */
import { ProviderError } from '../../../providers/provider-error.ts';
import {
  formatAllowedHosts,
  isAllowedHost,
  type ProviderHosts,
} from '../../provider/provider-hosts.ts';
import { findAddressProblem, isHostLabels } from '../../provider/provider-workspace.ts';

/** Finds the workspace in the caller's input: `providerWorkspaceRef`, or a member of `providerMetadata`. */
export function findWorkspaceRef({ providerWorkspaceRef, providerMetadata }: AccountMetadataInput) {
  return findVariable('workspace', {
    providerWorkspaceRef: providerWorkspaceRef ?? null,
    providerMetadata,
  });
}

export interface AccountMetadataInput {
  providerWorkspaceRef?: string | null | undefined;
  providerMetadata?: unknown;
}

export interface AccountMetadata {
  providerWorkspaceRef: string | null;
  providerMetadata: unknown;
}

const VARIABLE = /\{\{(\w+)\}\}/g;
const WHOLE_ADDRESS = '{{workspace}}';
const HEADER_VALUE = /^[\x20-\x7e]{1,1024}$/;

interface AddressProblem {
  variable: string;
  detail: string;
}

/** Throws BAD_REQUEST that names the first variable that is missing or unusable. */
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
  const address = template.replaceAll(VARIABLE, (_all, name) => findVariable(name, account) ?? '');
  return address.replace(/\/+$/, '');
}

/**
 * Returns the origin of an address. Variables of its path may be missing. Null if a variable of its host is missing or
 * unusable.
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
 * Returns the headers with lower-case names. Throws BAD_REQUEST that names the first variable that is missing or not
 * valid in a header.
 */
export function fillHeaders(
  templates: Readonly<Record<string, string>>,
  account: AccountMetadata,
): Record<string, string> {
  const fill = (template: string) =>
    template.replaceAll(VARIABLE, (_all, name: string) => {
      const value = findVariable(name, account);
      if (value !== null && HEADER_VALUE.test(value)) return value;
      const detail = value === null ? 'is required but missing.' : 'must be a single line of text.';
      throw new ProviderError('BAD_REQUEST', `The connection's ${toInputMember(name)} ${detail}`);
    });
  return Object.fromEntries(
    Object.entries(templates).map(([name, template]) => [name.toLowerCase(), fill(template)]),
  );
}

/** Lists the reasons why templates can't be filled in, one for each variable. */
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

/** Returns the input member of a variable: providerWorkspaceRef, or the variable's name in providerMetadata. */
export function toInputMember(variable: string): string {
  return variable === 'workspace' ? 'providerWorkspaceRef' : `providerMetadata.${variable}`;
}

function findProblem(
  provider: ProviderHosts,
  { template, variable }: { template: string; variable: string },
  value: string | null,
): string | null {
  if (value === null) return 'is required for the address but missing.';
  if (template === WHOLE_ADDRESS) return findAddressProblem(provider, variable, value);
  if (!isHostLabels(value)) return 'must be letters, digits and dashes, separated by dots.';
  if (isAllowedHost(provider, variable, value)) return null;
  return `must be ${formatAllowedHosts(provider, variable)}.`;
}

/**
 * Finds the value of a variable. Metadata contains strings, or `{ value }` in the reference API's form. Web pages write
 * the workspace there too.
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
