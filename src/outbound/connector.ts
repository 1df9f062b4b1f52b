/**
 * Connects to permitted addresses only. A name is looked up once for each connection, all its addresses
 * are checked, and the connection is made to one of those that passed: a name
 * that resolves to another address after the check gains nothing.
 */
import type { LookupAddress } from 'node:dns';
import { lookup as lookUpName } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isAllowed, isRefused } from './address-guard.ts';
import { OutboundError, outboundError } from './error.ts';

/** TCP and TLS together; two lost SYN packets still get through. */
const CONNECT_MS = 10_000;

/** All addresses of a name. */
export type Lookup = (hostname: string) => Promise<LookupAddress[]>;

export interface AddressRules {
  /** CIDRs. */
  allowedPrivateTargets: readonly string[];
  /** Origins that are our own, whatever their address. */
  alwaysAllowedOrigins: () => readonly string[];
  lookup?: Lookup;
}

export function createConnector(rules: AddressRules): buildConnector.connector {
  const lookup = oneAtATime(rules.lookup ?? lookUpAll);
  const accepts = acceptedBy(rules);
  const connectTo = {
    'http:': guarded(lookup, accepts['http:']),
    'https:': guarded(lookup, accepts['https:']),
  };
  const connectToOwn = buildConnector(CONNECT_OPTIONS);
  return (options, callback) => {
    const isOwn = rules.alwaysAllowedOrigins().includes(originOf(options));
    const connect = isOwn ? connectToOwn : connectTo[options.protocol as keyof typeof connectTo];
    return connect(options, callback);
  };
}

/** The rules, by protocol. */
function acceptedBy({ allowedPrivateTargets: allowed }: AddressRules) {
  return {
    // Without TLS only to addresses of ALLOWED_PRIVATE_TARGETS.
    'http:': (address: string) => isAllowed(address, allowed),
    'https:': (address: string) => !isRefused(address, allowed),
  };
}

/** Where a connection to the URL's host may go, for clients that connect by themselves. Throws OutboundError. */
export async function permittedAddresses(rules: AddressRules, url: URL): Promise<LookupAddress[]> {
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const lookup = rules.lookup ?? lookUpAll;
  const found = await lookup(hostname).catch((error: unknown) => {
    throw outboundError(error, false);
  });
  const isOwn = rules.alwaysAllowedOrigins().includes(url.origin);
  const accepts = acceptedBy(rules)[url.protocol as 'http:' | 'https:'];
  const accepted = found.filter(({ address }) => isOwn || accepts(address));
  if (accepted.length === 0) throw refused(hostname);
  return accepted;
}

const lookUpAll: Lookup = (name) => lookUpName(name, { all: true });

// One request to a connection at a time: HTTP/2 would put many on one, beyond the bounds on sockets.
const CONNECT_OPTIONS = { timeout: CONNECT_MS, allowH2: false };

function guarded(lookup: Lookup, accepts: (address: string) => boolean): buildConnector.connector {
  const connect = buildConnector({ ...CONNECT_OPTIONS, lookup: checked(lookup, accepts) });
  return (options, callback) => {
    // A literal is never looked up.
    if (isIP(options.hostname) === 0 || accepts(options.hostname))
      return connect(options, callback);
    callback(refused(options.hostname), null);
  };
}

/** Answers with the accepted addresses: the socket connects to these and to no others. */
function checked(lookup: Lookup, accepts: (address: string) => boolean): LookupFunction {
  return (hostname, { all }, callback) => {
    const response = (addresses: LookupAddress[]) => {
      const accepted = addresses.filter(({ address }) => accepts(address));
      const [first] = accepted;
      if (!first) callback(refused(hostname), '');
      else if (all) callback(null, accepted);
      else callback(null, first.address, first.family);
    };
    lookup(hostname).then(response, (error: NodeJS.ErrnoException) => callback(error, ''));
  };
}

/** A lookup holds one of the few threads of the process: a name with a slow name server holds at most one. */
function oneAtATime(lookup: Lookup): Lookup {
  const running = new Map<string, Promise<LookupAddress[]>>();
  return (hostname) => {
    const known = running.get(hostname);
    if (known) return known;
    const started = lookup(hostname).finally(() => running.delete(hostname));
    running.set(hostname, started);
    return started;
  };
}

function refused(hostname: string): OutboundError {
  return new OutboundError(
    'REFUSED_ADDRESS',
    `The address of ${hostname} is not permitted: ALLOWED_PRIVATE_TARGETS doesn't hold it.`,
  );
}

function originOf({ protocol, hostname, port }: buildConnector.Options): string {
  const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
  return new URL(`${protocol}//${host}:${port}`).origin;
}
