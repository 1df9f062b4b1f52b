/**
 * Builds the addresses of a connection's account from a provider's templates and their `{{variables}}`. A value can't
 * leave its part of the address, so credentials never go to another host.
 */
import { ProviderError } from '../../../providers/provider-error.ts';
import { allowedHosts, isAllowedHost, type ProviderHosts } from '../../provider/provider-hosts.ts';
import { isHostLabels, problemWithAddress } from '../../provider/provider-workspace.ts';

/** The workspace in the caller's input: `providerWorkspaceRef`, or a member of `providerMetadata`. */
export function findWorkspaceRef({ providerWorkspaceRef, providerMetadata }: InputFacts) {
  return findFact('workspace', {
    providerWorkspaceRef: providerWorkspaceRef ?? null,
    providerMetadata,
  });
}

export interface InputFacts {
  providerWorkspaceRef?: string | null | undefined;
  providerMetadata?: unknown;
}

export interface AccountFacts {
  providerWorkspaceRef: string | null;
  providerMetadata: unknown;
}

const VARIABLE = /\{\{(\w+)\}\}/g;
const WHOLE_ADDRESS = '{{workspace}}';

interface AddressProblem {
  variable: string;
  detail: string;
}

/** Throws BAD_REQUEST that names the first variable that is missing or unusable. */
export function fillAddress(
  provider: ProviderHosts,
  template: string,
  account: AccountFacts,
): string {
  const [problem] = addressProblems(provider, [template], account);
  if (problem) {
    const { variable, detail } = problem;
    throw new ProviderError('BAD_REQUEST', `The connection's ${factName(variable)} ${detail}`);
  }
  const address = template.replaceAll(VARIABLE, (_all, name) => findFact(name, account) ?? '');
  return address.replace(/\/+$/, '');
}

/**
 * The origin of an address. Variables of its path may be missing. Null if a variable of its host is missing or
 * unusable.
 */
export function findOrigin(
  provider: ProviderHosts,
  template: string,
  account: AccountFacts,
): string | null {
  const [host = template] = /^https?:\/\/[^/]*/.exec(template) ?? [];
  if (addressProblems(provider, [host], account).length > 0) return null;
  return URL.parse(fillAddress(provider, host, account))?.origin ?? null;
}

/**
 * Returns the headers with lower-case names. Throws BAD_REQUEST that names the first variable that is missing or not
 * valid in a header.
 */
export function fillHeaders(
  templates: Readonly<Record<string, string>>,
  account: AccountFacts,
): Record<string, string> {
  const fill = (template: string) =>
    template.replaceAll(VARIABLE, (_all, name: string) => {
      const value = findFact(name, account);
      if (value !== null && HEADER_VALUE.test(value)) return value;
      const detail = value === null ? 'is required but missing.' : 'must be a single line of text.';
      throw new ProviderError('BAD_REQUEST', `The connection's ${factName(name)} ${detail}`);
    });
  return Object.fromEntries(
    Object.entries(templates).map(([name, template]) => [name.toLowerCase(), fill(template)]),
  );
}
const HEADER_VALUE = /^[\x20-\x7e]{1,1024}$/;

/** Reasons why templates can't be filled in, one for each variable. */
export function addressProblems(
  provider: ProviderHosts,
  templates: readonly string[],
  account: AccountFacts,
): AddressProblem[] {
  const problems = templates.flatMap((template) =>
    listVariables(template).flatMap((variable) => {
      const detail = problemWith(provider, { template, variable }, findFact(variable, account));
      return detail === null ? [] : [{ variable, detail }];
    }),
  );
  return [...new Map(problems.map((problem) => [problem.variable, problem])).values()];
}

export function listVariables(template: string): string[] {
  return [...template.matchAll(VARIABLE)].map(([, variable = '']) => variable);
}

/** The input member of a variable: providerWorkspaceRef, or the variable's name in providerMetadata. */
export function factName(variable: string): string {
  return variable === 'workspace' ? 'providerWorkspaceRef' : `providerMetadata.${variable}`;
}

function problemWith(
  provider: ProviderHosts,
  { template, variable }: { template: string; variable: string },
  value: string | null,
): string | null {
  if (value === null) return 'is required for the address but missing.';
  if (template === WHOLE_ADDRESS) return problemWithAddress(provider, variable, value);
  if (!isHostLabels(value)) return 'must be letters, digits and dashes, separated by dots.';
  if (isAllowedHost(provider, variable, value)) return null;
  return `must be ${allowedHosts(provider, variable)}.`;
}

/** Metadata contains text, or `{ value }` in the reference API's form. Web pages write the workspace there too. */
export function findFact(name: string, { providerWorkspaceRef, providerMetadata }: AccountFacts) {
  if (name === 'workspace' && providerWorkspaceRef !== null) return providerWorkspaceRef;
  const facts = Object(providerMetadata);
  const fact: unknown = Object.hasOwn(facts, name) ? facts[name] : undefined;
  const value = typeof fact === 'object' && fact !== null && 'value' in fact ? fact.value : fact;
  return typeof value === 'string' && value !== '' ? value : null;
}
