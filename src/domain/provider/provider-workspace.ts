/** The workspace of a connection: what its provider's addresses are made with. */
import type { Issue } from '../../errors.ts';
import type { Provider } from '../../providers/contract.ts';
import { isKnownHost, type KnownHosts, knownHosts } from './provider-hosts.ts';

const VARIABLE = '{{workspace}}';
/** Labels of a host name: nothing that could end the host or start a path. */
const HOST_LABELS = /^[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*$/;
const HOST_MAX = 253;
/** What a vendor may call an account: `acct_1032D82eZvKYlo2C`, say. */
const ONE_LINE = /^[^\p{Cc}]+$/u;

/** Safe in a URL: changes no more of its host than the labels that it stands for, and no path. */
export function isHostLabels(text: string): boolean {
  return HOST_LABELS.test(text) && text.length <= HOST_MAX;
}

/** Why a connection to the provider can't have that workspace, or none. */
export function workspaceIssues(provider: Provider, ref: string | null | undefined): Issue[] {
  if (ref == null) {
    return isNeeded(provider) ? [issue(`is needed for ${provider.name}.`)] : [];
  }
  if (comesWithToken(provider)) {
    const detail = problemWithAddress(provider, 'workspace', ref);
    return detail === null ? [] : [issue(detail, ref)];
  }
  if (!isNeeded(provider))
    return ONE_LINE.test(ref) ? [] : [issue('must be text of one line.', ref)];
  if (isHostLabels(ref)) return [];
  return [issue('must be letters, digits and dashes, in parts of up to 63 between dots.', ref)];
}

/** One that a provider only likes to have is in none of its addresses. */
function isNeeded({ baseUrl, oauth2 }: Provider): boolean {
  return [baseUrl, oauth2?.authorizeUrl, oauth2?.tokenUrl].some((url) => url?.includes(VARIABLE));
}

/** The provider names the account's whole address when it gives a token: it need not be known before. */
export function comesWithToken({ baseUrl }: Provider): boolean {
  return baseUrl === VARIABLE;
}

/** Why a variable can't stand for that whole address. */
export function problemWithAddress(
  provider: KnownHosts,
  variable: string,
  text: string,
): string | null {
  const url = URL.parse(text);
  const isPlain = url?.protocol === 'https:' && url.href === `https://${url.host}${url.pathname}`;
  if (isPlain && isKnownHost(provider, variable, url.host)) return null;
  const known = knownHosts(provider, variable);
  return `must be an https address without query or fragment${known === null ? '' : `, at ${known}`}.`;
}

function issue(detail: string, value?: string): Issue {
  const about = value === undefined ? {} : { value };
  return { in: 'body', name: 'input.providerWorkspaceRef', detail, ...about };
}
