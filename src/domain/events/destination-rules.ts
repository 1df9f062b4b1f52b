/**
 * Validates the input of destinations. Validating a URL makes no DNS request, because each delivery attempt checks the
 * resolved addresses.
 */

import type { Row } from '../../database/statements/tables.ts';
import { listMaskedParameters } from '../../deliveries/target-secrets.ts';
import { invalid } from '../../kernel/errors.ts';
import { isAllowed, isForbidden } from '../../outbound/address-guard.ts';
import type { Call, Services } from '../access/call.ts';
import { createInputIssue, createRuleIssue, requireNoIssues } from '../base/issues.ts';

/** The maximum length of a webhook's URL. */
const URL_CHARACTERS_MAX = 2048;

/** Names that resolve to the loopback addresses: RFC 6761, and common names of /etc/hosts. */
const LOCAL_NAME = /^(.+\.)?(localhost[46]?(\.localdomain[46]?)?|ip6-(localhost|loopback))$/;
const LOOPBACK_ADDRESSES = ['127.0.0.1', '::1'];

/**
 * Names that no public server has: names of one label, names reserved for private use, and names that private networks
 * commonly use (RFC 6762, appendix G). Reserved are .internal (ICANN), .local (RFC 6762) and home.arpa (RFC 8375).
 */
const INTERNAL_NAME =
  /^[^.]+$|\.(internal|local|localdomain|intranet|private|corp|home|lan|home\.arpa)$/;

type Policy = Pick<Services, 'config' | 'sandboxUrl'>;

/** Returns the problem with the URL, independent of server settings. Null if there is none. */
export function findUrlIssue(text: string): string | null {
  if (text.length > URL_CHARACTERS_MAX) return `must be at most ${URL_CHARACTERS_MAX} characters.`;
  // The URL parser skips extra slashes before a host, and would take the first segment of the path as the host.
  if (!/^https?:\/\/[^\s\p{Cc}/\\][^\s\p{Cc}]*$/iu.test(text) || !URL.canParse(text)) {
    return 'must be an absolute https URL.';
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password.';
  if (text.includes('#')) return 'must not have a fragment.';
  const maskedNames = listMaskedParameters(text);
  return maskedNames.length > 0 ? formatMaskIssue(maskedNames) : null;
}

function formatMaskIssue(parameters: string[]): string {
  const names = parameters.map((name) => `\`${name}\``).join(', ');
  return `contains a mask instead of a value for ${names} in its query. Send the whole URL, or omit it to keep the stored one.`;
}

/**
 * Returns why the server settings forbid the URL, which `findUrlIssue` must have accepted. Null if they allow it. The
 * URL must use https, or http with an address of ALLOWED_PRIVATE_TARGETS. The sandbox is always allowed.
 */
export function findHostIssue(text: string, { config, sandboxUrl }: Policy): string | null {
  const { origin, protocol, hostname } = new URL(text);
  const sandbox = sandboxUrl();
  if (sandbox && origin === new URL(sandbox).origin) return null;
  const allowedTargets = config.ALLOWED_PRIVATE_TARGETS;
  const name = hostname.replace(/\.+$/, '');
  if (name === '') return 'must be an absolute https URL.';
  const addresses = listLiteralAddresses(name);
  if (addresses.length > 0 && addresses.every((address) => isForbidden(address, allowedTargets))) {
    return 'must not be a private, loopback, link-local or reserved address, unless ALLOWED_PRIVATE_TARGETS contains it.';
  }
  const isInternal = addresses.length === 0 && INTERNAL_NAME.test(name);
  if (isInternal && allowedTargets.length === 0) {
    return 'must not be a name of a private network, unless ALLOWED_PRIVATE_TARGETS contains its address.';
  }
  if (protocol === 'https:') return null;
  // A private name may use http: it may resolve to an allowed address, which each attempt checks. A public name must
  // use https.
  const mayBeAllowed =
    isInternal || addresses.some((address) => isAllowed(address, allowedTargets));
  return mayBeAllowed ? null : 'must use https.';
}

/**
 * Returns the address if the host is an IP address, and the loopback addresses for a local name. `URL` has normalized
 * every notation of IPv4.
 */
function listLiteralAddresses(hostname: string): string[] {
  if (LOCAL_NAME.test(hostname)) return LOOPBACK_ADDRESSES;
  if (hostname.startsWith('[')) return [hostname.slice(1, -1)];
  return /^\d+(\.\d+){3}$/.test(hostname) ? [hostname] : [];
}

type Destination = Pick<Row<'Destination'>, 'type'>;

interface DestinationInput {
  url?: string | undefined;
  headers?: unknown;
  keepHeaders?: unknown;
  status?: string | undefined;
}

const WEBHOOKS_ONLY = 'is allowed only for webhooks. Clients read a stream; nothing is sent.';

/** Yields an issue for each member that the type does not allow. A webhook needs a URL, and a stream has none. */
export function* listTypeIssues(input: Destination & DestinationInput) {
  if (input.type === 'STREAM') {
    for (const name of listWebhookMembers(input)) yield createRuleIssue([name], WEBHOOKS_ONLY);
  } else if (input.url === undefined) {
    yield createRuleIssue(['url'], 'is required for a webhook.');
  } else {
    yield* listUrlMemberIssues(input);
  }
}

export function* listUrlMemberIssues({ url }: DestinationInput) {
  if (url === undefined) return;
  const issue = findUrlIssue(url);
  if (issue) yield createRuleIssue(['url'], issue, { showsValue: !mayContainSecret(url) });
}

/** True if the URL may contain a password or a secret query value, which errors must not repeat. */
function mayContainSecret(url: string): boolean {
  return /[@?]/.test(url);
}

/** Throws BAD_USER_INPUT if the server settings forbid the URL. */
export function requireAllowedHost(call: Call, { url }: DestinationInput): void {
  if (url === undefined) return;
  const issue = findHostIssue(url, call);
  if (issue) throw invalid(['url'], issue, mayContainSecret(url) ? undefined : url);
}

/** Throws BAD_USER_INPUT with every member that a stream can't have. */
export function requireNoWebhookMembers({ type }: Destination, input: DestinationInput): void {
  if (type !== 'STREAM') return;
  requireNoIssues(listWebhookMembers(input).map((name) => createInputIssue([name], WEBHOOKS_ONLY)));
}

/** Lists the members of the input that only webhooks have. Null counts as absent. */
function listWebhookMembers({ url, headers, keepHeaders, status }: DestinationInput): string[] {
  return Object.entries({ url, headers, keepHeaders, status }).flatMap(([name, value]) =>
    value == null ? [] : [name],
  );
}
