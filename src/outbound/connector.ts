/**
 * Connects to permitted addresses only. A name is resolved once per connection, and the socket connects to one of the
 * checked addresses. This prevents DNS rebinding, in which a name later resolves to another address.
 */
import type { LookupAddress } from 'node:dns';
import { lookup as lookUpName } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isAllowed, isForbidden } from './address-guard.ts';
import { OutboundError, toOutboundError } from './outbound-error.ts';

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

/** HTTP/2 is off: it would multiplex requests over one socket, beyond the limit of sockets. */
const CONNECT_OPTIONS = { timeout: CONNECT_MS, allowH2: false };

export function createConnector(rules: AddressRules): buildConnector.connector {
  const lookup = shareLookups(rules.lookup ?? lookUpAddresses);
  const accepts = createAddressChecks(rules);
  const connectTo = {
    'http:': createGuardedConnector(lookup, accepts['http:']),
    'https:': createGuardedConnector(lookup, accepts['https:']),
  };
  const connectToOwnServer = buildConnector(CONNECT_OPTIONS);
  return (options, callback) => {
    const isOwnServer = rules.alwaysAllowedOrigins().includes(formatOrigin(options));
    const connect = isOwnServer
      ? connectToOwnServer
      : connectTo[options.protocol as keyof typeof connectTo];
    return connect(options, callback);
  };
}

/** Returns predicates for the permitted addresses of each protocol. */
function createAddressChecks({ allowedPrivateTargets }: AddressRules) {
  return {
    // Without TLS, only addresses in ALLOWED_PRIVATE_TARGETS are permitted.
    'http:': (address: string) => isAllowed(address, allowedPrivateTargets),
    'https:': (address: string) => !isForbidden(address, allowedPrivateTargets),
  };
}

/**
 * Returns the permitted addresses of the URL's host, for clients that open their connections themselves. Throws
 * OutboundError.
 */
export async function listPermittedAddresses(
  rules: AddressRules,
  url: URL,
): Promise<LookupAddress[]> {
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const lookup = rules.lookup ?? lookUpAddresses;
  const addresses = await lookup(hostname).catch((error: unknown) => {
    throw toOutboundError(error, false);
  });
  const isOwnServer = rules.alwaysAllowedOrigins().includes(url.origin);
  const accepts = createAddressChecks(rules)[url.protocol as 'http:' | 'https:'];
  const permittedAddresses = addresses.filter(({ address }) => isOwnServer || accepts(address));
  if (permittedAddresses.length === 0) throw createRefusedAddressError(hostname);
  return permittedAddresses;
}

const lookUpAddresses: Lookup = (name) => lookUpName(name, { all: true });

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
    callback(createRefusedAddressError(options.hostname), null);
  };
}

/** Returns a lookup that yields permitted addresses only, so that the socket can't connect to others. */
function createCheckedLookup(
  lookup: Lookup,
  accepts: (address: string) => boolean,
): LookupFunction {
  return (hostname, { all }, callback) => {
    const respond = (addresses: LookupAddress[]) => {
      const permittedAddresses = addresses.filter(({ address }) => accepts(address));
      const [permittedAddress] = permittedAddresses;
      if (!permittedAddress) callback(createRefusedAddressError(hostname), '');
      else if (all) callback(null, permittedAddresses);
      else callback(null, permittedAddress.address, permittedAddress.family);
    };
    lookup(hostname).then(respond, (error: NodeJS.ErrnoException) => callback(error, ''));
  };
}

/**
 * Shares concurrent lookups of the same name. A lookup occupies one of the process's few threads, and a slow name server
 * must not occupy several for one name.
 */
function shareLookups(lookup: Lookup): Lookup {
  const pendingLookups = new Map<string, Promise<LookupAddress[]>>();
  return (hostname) => {
    const pending = pendingLookups.get(hostname);
    if (pending) return pending;
    const addresses = lookup(hostname).finally(() => pendingLookups.delete(hostname));
    pendingLookups.set(hostname, addresses);
    return addresses;
  };
}

function createRefusedAddressError(hostname: string): OutboundError {
  return new OutboundError(
    'REFUSED_ADDRESS',
    `The address of ${hostname} is not permitted: ALLOWED_PRIVATE_TARGETS does not contain it.`,
  );
}

function formatOrigin({ protocol, hostname, port }: buildConnector.Options): string {
  const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
  return new URL(`${protocol}//${host}:${port}`).origin;
}
