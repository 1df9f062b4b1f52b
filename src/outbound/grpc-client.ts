/** gRPC clients that connect to addresses which were checked before, and to no others. */
import type { LookupAddress } from 'node:dns';
import { createSecureContext } from 'node:tls';
import { type ChannelCredentials, Client, credentials } from '@grpc/grpc-js';

/** A dead line shows within the two together. */
const KEEPALIVE_MS = 60_000;
const KEEPALIVE_ANSWER_MS = 20_000;

/** The name stands in requests and is what the server's certificate must be for. */
export function grpcClient(url: URL, addresses: readonly LookupAddress[]): Client {
  const isClear = url.protocol === 'http:';
  const port = url.port || (isClear ? '80' : '443');
  const family = addresses[0]?.family;
  const places = addresses
    .filter((one) => one.family === family)
    .map(({ address }) => (family === 6 ? `[${address}]:${port}` : `${address}:${port}`));
  const target = `ipv${family}:${places.join(',')}`;
  return new Client(target, isClear ? credentials.createInsecure() : trustOfNode(), {
    'grpc.default_authority': url.host,
    ...(!isClear && { 'grpc.ssl_target_name_override': url.hostname }),
    'grpc.enable_http_proxy': 0,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_ANSWER_MS,
  });
}

/** The same authorities as for HTTP: the library's own variables would make them differ. */
function trustOfNode(): ChannelCredentials {
  return credentials.createFromSecureContext(createSecureContext());
}
