/**
 * Validates the workspace of a connection and the hosts that customers enter. The addresses of the provider are built
 * from them.
 */
import type { Issue } from '../../../kernel/errors.ts';
import { type CustomInput, isConsentScheme, type Provider } from '../../../providers/contract.ts';
import { createInputIssue } from '../../base/issues.ts';

const VARIABLE = '{{workspace}}';
/** Labels of a host name. They contain no character that could end the host or start a path. */
const HOST_LABELS = /^[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*$/;
const HOST_LENGTH_MAX = 253;
/** Matches a vendor's name of an account, for example `acct_1032D82eZvKYlo2C`. */
const ONE_LINE = /^[^\p{Cc}]+$/u;

/** True if the value is safe in a URL: it can replace only labels of the host, and can't start a path. */
export function isHostLabels(value: string): boolean {
  return HOST_LABELS.test(value) && value.length <= HOST_LENGTH_MAX;
}

/** Lists issues with the workspace of a connection to the provider, or with its absence. */
export function listWorkspaceIssues(provider: Provider, ref: string | null | undefined): Issue[] {
  if (ref == null) {
    return needsWorkspace(provider) ? [createIssue(`is required for ${provider.name}.`)] : [];
  }
  if (isWholeAddress(provider.baseUrl, 'workspace')) {
    const detail = findAddressProblem(provider, 'workspace', ref);
    return detail === null ? [] : [createIssue(detail, ref)];
  }
  if (!needsWorkspace(provider)) {
    return ONE_LINE.test(ref) ? [] : [createIssue('must be a single line of text.', ref)];
  }
  if (isHostLabels(ref)) return [];
  return [
    createIssue(
      'must be letters, digits and dashes, in parts of up to 63 characters between dots.',
      ref,
    ),
  ];
}

/** True if an address of the provider contains the workspace. If none does, the workspace is optional. */
function needsWorkspace({ baseUrl, oauth2 }: Provider): boolean {
  return [baseUrl, oauth2?.authorizeUrl, oauth2?.tokenUrl].some((url) => url?.includes(VARIABLE));
}

/** True if the token response contains the account's whole address, so that callers need not know it. */
export function getsWorkspaceFromToken({ baseUrl }: Provider): boolean {
  return baseUrl === VARIABLE;
}

/**
 * Returns the workspace as an input of a form. It is optional if a consent names the workspace. Null if connecting needs
 * no workspace.
 */
export function findWorkspaceInput(provider: Provider): CustomInput | null {
  const { authSchemes, oauth2 } = provider;
  const isInToken = getsWorkspaceFromToken(provider);
  if (!needsWorkspace(provider) || (isInToken && authSchemes.every(isConsentScheme))) return null;
  const input = createWorkspaceInput(provider);
  return isInToken || oauth2?.sharedLogin ? { ...input, optional: true } : input;
}

export function createWorkspaceInput({
  workspaceDisplayName: displayName = 'Workspace',
  workspaceHelp,
}: Provider): CustomInput {
  return { name: 'workspace', displayName, ...workspaceHelp };
}

/** True if the variable stands for the scheme and the host at the start of an address. */
export function isWholeAddress(template: string, variable: string): boolean {
  return template.startsWith(`{{${variable}}}`);
}

/** Returns the reason why a value can't be a whole address. Null if it can. */
export function findAddressProblem(
  provider: ProviderHosts,
  variable: string,
  value: string,
): string | null {
  const url = URL.parse(value);
  const isPlain = url?.protocol === 'https:' && url.href === `https://${url.host}${url.pathname}`;
  if (isPlain && isAllowedHost(provider, variable, url.host)) return null;
  const hosts = formatAllowedHosts(provider, variable);
  return `must be an https address without query or fragment${hosts === null ? '' : `, at ${hosts}`}.`;
}

function createIssue(detail: string, value?: string): Issue {
  return createInputIssue(['providerWorkspaceRef'], detail, value);
}

export type ProviderHosts = Pick<Provider, 'hosts'>;

const HOST_LIST_FORMAT = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** True if the variable may have this host. It may have any host if the provider does not list hosts for it. */
export function isAllowedHost({ hosts }: ProviderHosts, variable: string, host: string): boolean {
  return hosts?.[variable]?.some((pattern) => matchesPattern(pattern, host.toLowerCase())) ?? true;
}

/** Formats the allowed hosts for an error message. Null if any host is allowed. */
export function formatAllowedHosts({ hosts }: ProviderHosts, variable: string): string | null {
  const patterns = hosts?.[variable];
  return patterns ? HOST_LIST_FORMAT.format(patterns) : null;
}

/** True if the list contains the host. `*.` in the list matches all names below a domain. */
export function matchesHost(hosts: readonly string[], host: string): boolean {
  return hosts.some((pattern) => matchesPattern(pattern, host.toLowerCase()));
}

function matchesPattern(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}
