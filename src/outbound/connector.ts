/**
 * Connects to permitted addresses only. A name is resolved once per connection, and the socket connects to one of the
 * checked addresses. A name that later resolves to another address therefore gains nothing (DNS rebinding).
 */
import type { LookupAddress } from 'node:dns';
import { lookup as lookUpName } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isAllowed, isRefused } from './address-guard.ts';
import { OutboundError, outboundError } from './error.ts';

/** Time limit of the TCP and TLS handshakes. It tolerates two lost SYN packets. */
const CONNECT_MS = 10_000;

/** Resolves a name to all its addresses. */
export type Lookup = (hostname: string) => Promise<LookupAddress[]>;

interface AddressRules {
  /** Permitted CIDRs outside the public internet. */
  allowedPrivateTargets: readonly string[];
  /** Origins of the gateway's own servers. They are permitted at any address. */
  alwaysAllowedOrigins: () => readonly string[];
  lookup?: Lookup;
}

export function createConnector(rules: AddressRules): buildConnector.connector {
  const lookup = deduplicateLookups(rules.lookup ?? lookUpAll);
  const accepts = acceptedBy(rules);
  const connectTo = {
    'http:': createGuardedConnector(lookup, accepts['http:']),
    'https:': createGuardedConnector(lookup, accepts['https:']),
  };
  const connectToOwn = buildConnector(CONNECT_OPTIONS);
  return (options, callback) => {
    const isOwn = rules.alwaysAllowedOrigins().includes(formatOrigin(options));
    const connect = isOwn ? connectToOwn : connectTo[options.protocol as keyof typeof connectTo];
    return connect(options, callback);
  };
}

/** Returns the check of an address for each protocol. */
function acceptedBy({ allowedPrivateTargets: allowed }: AddressRules) {
  return {
    // Without TLS, only addresses of ALLOWED_PRIVATE_TARGETS are permitted.
    'http:': (address: string) => isAllowed(address, allowed),
    'https:': (address: string) => !isRefused(address, allowed),
  };
}

/**
 * Returns the permitted addresses of the URL's host, for clients that open connections on their own. Throws
 * OutboundError.
 */
export async function permittedAddresses(rules: AddressRules, url: URL): Promise<LookupAddress[]> {
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const lookup = rules.lookup ?? lookUpAll;
  const addresses = await lookup(hostname).catch((error: unknown) => {
    throw outboundError(error, false);
  });
  const isOwn = rules.alwaysAllowedOrigins().includes(url.origin);
  const accepts = acceptedBy(rules)[url.protocol as 'http:' | 'https:'];
  const accepted = addresses.filter(({ address }) => isOwn || accepts(address));
  if (accepted.length === 0) throw refusedAddress(hostname);
  return accepted;
}

const lookUpAll: Lookup = (name) => lookUpName(name, { all: true });

// HTTP/2 is off: it would multiplex requests over one socket, beyond the limit of sockets.
const CONNECT_OPTIONS = { timeout: CONNECT_MS, allowH2: false };

function createGuardedConnector(
  lookup: Lookup,
  accepts: (address: string) => boolean,
): buildConnector.connector {
  const connect = buildConnector({
    ...CONNECT_OPTIONS,
    lookup: createCheckedLookup(lookup, accepts),
  });
  return (options, callback) => {
    // A literal IP address is never resolved, so it is checked here.
    if (isIP(options.hostname) === 0 || accepts(options.hostname))
      return connect(options, callback);
    callback(refusedAddress(options.hostname), null);
  };
}

/** Returns a resolver with the permitted addresses only, so the socket can connect to no others. */
function createCheckedLookup(
  lookup: Lookup,
  accepts: (address: string) => boolean,
): LookupFunction {
  return (hostname, { all }, callback) => {
    const response = (addresses: LookupAddress[]) => {
      const accepted = addresses.filter(({ address }) => accepts(address));
      const [first] = accepted;
      if (!first) callback(refusedAddress(hostname), '');
      else if (all) callback(null, accepted);
      else callback(null, first.address, first.family);
    };
    lookup(hostname).then(response, (error: NodeJS.ErrnoException) => callback(error, ''));
  };
}

/**
 * Shares concurrent lookups of the same name. A lookup occupies one of the few threads of the process, so a slow name
 * server may occupy only one.
 */
function deduplicateLookups(lookup: Lookup): Lookup {
  const running = new Map<string, Promise<LookupAddress[]>>();
  return (hostname) => {
    const pending = running.get(hostname);
    if (pending) return pending;
    const started = lookup(hostname).finally(() => running.delete(hostname));
    running.set(hostname, started);
    return started;
  };
}

function refusedAddress(hostname: string): OutboundError {
  return new OutboundError(
    'REFUSED_ADDRESS',
    `The address of ${hostname} is not permitted: ALLOWED_PRIVATE_TARGETS doesn't hold it.`,
  );
}

function formatOrigin({ protocol, hostname, port }: buildConnector.Options): string {
  const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
  return new URL(`${protocol}//${host}:${port}`).origin;
}
