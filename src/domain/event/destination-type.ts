/** What the two types of destinations may have: a webhook is posted to, a stream is read. */
import type { Row } from '../../database/rows.ts';
import type { Transaction } from '../../database/transaction.ts';
import { maskedParameters } from '../../deliveries/target-secrets.ts';
import { invalid } from '../../errors.ts';
import { isAllowed, isRefused } from '../../outbound/address-guard.ts';
import type { Call, Services } from '../call.ts';
import { broken, issueAt, refuseIssues } from '../issues.ts';

/**
 * The rules of a URL that messages are posted to, as far as they need no look-up of its host:
 * what a name resolves to is checked at every attempt.
 */

const CHARACTERS_MAX = 2048;

/** Names that never leave the machine (RFC 6761, and those of /etc/hosts), and what they stand for. */
const LOCAL_NAME = /^(.+\.)?(localhost[46]?(\.localdomain[46]?)?|ip6-(localhost|loopback))$/;
const LOOPBACK = ['127.0.0.1', '::1'];

/**
 * Names that no public server has: of one label, reserved for private use (.internal by ICANN, .local by RFC 6762,
 * home.arpa by RFC 8375), and those that private networks are known to use (RFC 6762, appendix G).
 */
const INTERNAL_NAME =
  /^[^.]+$|\.(internal|local|localdomain|intranet|private|corp|home|lan|home\.arpa)$/;

type Policy = Pick<Services, 'config' | 'sandboxUrl'>;

/** Returns the problem of a URL's text, independent of the settings. Null if it has none. */
export function problemWithUrl(text: string): string | null {
  if (text.length > CHARACTERS_MAX) return `must be at most ${CHARACTERS_MAX} characters.`;
  // URL skips slashes in front of a host: it would take the path's first part for it.
  if (!/^https?:\/\/[^\s\p{Cc}/\\][^\s\p{Cc}]*$/iu.test(text) || !URL.canParse(text)) {
    return 'must be an absolute https URL.';
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password.';
  if (text.includes('#')) return 'must not have a fragment.';
  const masked = maskedParameters(text);
  return masked.length > 0 ? maskProblem(masked) : null;
}

function maskProblem(parameters: string[]): string {
  const names = parameters.map((name) => `\`${name}\``).join(', ');
  return `has a mask and not a value for ${names} in its query. Send the whole URL, or leave it out to keep it.`;
}

/**
 * Returns the problem of a URL's host, for a URL that passes `problemWithUrl`. The URL must use https, or http with an
 * address of ALLOWED_PRIVATE_TARGETS. The sandbox is always allowed.
 */
export function problemWithHost(text: string, { config, sandboxUrl }: Policy): string | null {
  const { origin, protocol, hostname } = new URL(text);
  if (origin === new URL(sandboxUrl()).origin) return null;
  const allowed = config.ALLOWED_PRIVATE_TARGETS;
  const name = hostname.replace(/\.+$/, '');
  if (name === '') return 'must be an absolute https URL.';
  const addresses = addressesOf(name);
  if (addresses.length > 0 && addresses.every((address) => isRefused(address, allowed))) {
    return 'must not be a private, loopback, link-local or reserved address, unless ALLOWED_PRIVATE_TARGETS holds it.';
  }
  const isInternal = addresses.length === 0 && INTERNAL_NAME.test(name);
  if (isInternal && allowed.length === 0) {
    return 'must not be a name of a private network, unless ALLOWED_PRIVATE_TARGETS holds its address.';
  }
  if (protocol === 'https:') return null;
  // A name of a private network may resolve to an allowed address, which every attempt checks. Public names may not.
  const mayBeAllowed = isInternal || addresses.some((address) => isAllowed(address, allowed));
  return mayBeAllowed ? null : 'must be https.';
}

/** The address that the host is written as; URL has brought every notation of IPv4 to one. */
function addressesOf(hostname: string): string[] {
  if (LOCAL_NAME.test(hostname)) return LOOPBACK;
  if (hostname.startsWith('[')) return [hostname.slice(1, -1)];
  return /^\d+(\.\d+){3}$/.test(hostname) ? [hostname] : [];
}

type Destination = Pick<Row<'Destination'>, 'type'>;

interface Given {
  url?: string | undefined;
  headers?: unknown;
  keepHeaders?: unknown;
  status?: string | undefined;
}

/** The rules of a new destination: a webhook needs a URL, and a stream has none. */
export function* brokenByType(given: Destination & Given) {
  if (given.type === 'STREAM') {
    for (const name of webhookMembers(given)) yield broken([name], FOR_WEBHOOKS);
  } else if (given.url === undefined) {
    yield broken(['url'], 'is missing: a webhook needs it.');
  } else {
    yield* brokenByUrl(given);
  }
}

/** The rules of a URL that do not depend on settings. */
export function* brokenByUrl({ url }: Given) {
  const problem = url === undefined ? null : problemWithUrl(url);
  if (problem) yield broken(['url'], problem, { showsValue: !holdsSecret(url) });
}

/** Passwords and values of a query are not repeated. */
function holdsSecret(url = ''): boolean {
  return /[@?]/.test(url);
}

/** Throws BAD_USER_INPUT if the settings of the server do not allow the URL. */
export function refuseHost(call: Call, { url }: Given): void {
  const problem = url === undefined ? null : problemWithHost(url, call);
  if (problem) throw invalid('input.url', problem, holdsSecret(url) ? undefined : url);
}

/** Throws BAD_USER_INPUT that names every member that a stream can't have. */
export function refuseForStream({ type }: Destination, given: Given): void {
  if (type !== 'STREAM') return;
  refuseIssues(webhookMembers(given).map((name) => issueAt(['input', name], FOR_WEBHOOKS)));
}

const FOR_WEBHOOKS = 'is for webhooks: a stream sends nothing.';

/** The names of given members that only webhooks have. Null counts as not given. */
function webhookMembers({ url, headers, keepHeaders, status }: Given): string[] {
  return Object.entries({ url, headers, keepHeaders, status }).flatMap(([name, value]) =>
    value == null ? [] : [name],
  );
}

/** Opens the log of a stream: from then on it takes messages. Must run in the transaction that creates the destination. */
export async function openStream(
  tx: Transaction,
  { projectId, id: destinationId }: Pick<Row<'Destination'>, 'projectId' | 'id'>,
): Promise<void> {
  await tx.streamLog.create({ data: { projectId, destinationId } });
}
