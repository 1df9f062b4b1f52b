/** Creates gRPC clients that connect to checked addresses only. */
import type { LookupAddress } from 'node:dns';
import { createSecureContext } from 'node:tls';
import { type ChannelCredentials, Client, credentials } from '@grpc/grpc-js';

/** The time between two pings, and how long to wait for a reply. Their sum is the time to detect a dead connection. */
const KEEPALIVE_MS = 60_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;

/**
 * Creates a client that connects to the addresses. Requests and the check of the server's certificate use the URL's
 * host name.
 */
export function createGrpcClient(url: URL, addresses: readonly LookupAddress[]): Client {
  const isPlaintext = url.protocol === 'http:';
  const port = url.port || (isPlaintext ? '80' : '443');
  const family = addresses[0]?.family;
  const endpoints = addresses
    .filter((address) => address.family === family)
    .map(({ address }) => (family === 6 ? `[${address}]:${port}` : `${address}:${port}`));
  const target = `ipv${family}:${endpoints.join(',')}`;
  return new Client(target, isPlaintext ? credentials.createInsecure() : createTlsCredentials(), {
    'grpc.default_authority': url.host,
    ...(!isPlaintext && { 'grpc.ssl_target_name_override': url.hostname }),
    'grpc.enable_http_proxy': 0,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
  });
}

/**
 * Trusts the certificate authorities of Node, like HTTP requests do. The gRPC library would read others from its own
 * variables.
 */
function createTlsCredentials(): ChannelCredentials {
  return credentials.createFromSecureContext(createSecureContext());
}
