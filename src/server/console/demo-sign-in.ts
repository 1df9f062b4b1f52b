/**
 * Decides who gets the demo's credentials, which the console's one-click sign-in and GraphiQL's tabs use: only a browser
 * on this machine.
 */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

const LOCAL_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i;

/** Headers that proxies and content delivery networks add. A browser that connects directly sends none of them. */
const PROXY_HEADER =
  /^(?:x-forwarded(?:-.*)?|forwarded|via|x-(?:real|client|original|cluster-client|envoy).*|x-proxy.*|proxy-.*|x-request-start|cf-.*|cdn-loop|true-client-ip|fastly-.*|x-amz(?:n|-cf)-.*|x-appengine-.*|fly-.*|x-vercel-.*|x-azure-.*)$/i;

interface LocalRequest extends Pick<IncomingMessage, 'headers' | 'httpVersion'> {
  address: string;
  publicUrl: string | undefined;
}

/**
 * True for a browser that connects from this machine without a proxy. The Host header must be loopback too, because a
 * foreign name may resolve to this machine. Only HTTP/1.1 counts, because proxies that add no header often use
 * HTTP/1.0.
 */
export function isFromThisMachine({
  headers,
  httpVersion,
  address,
  publicUrl,
}: LocalRequest): boolean {
  return (
    isLocalUrl(publicUrl) &&
    httpVersion === '1.1' &&
    ipaddr.isValid(address) &&
    ipaddr.process(address).range() === 'loopback' &&
    LOCAL_HOST.test(headers.host ?? '') &&
    !Object.keys(headers).some((name) => PROXY_HEADER.test(name))
  );
}

/** True if PUBLIC_URL is unset or names this machine. Any other value means that the gateway is published. */
function isLocalUrl(publicUrl: string | undefined): boolean {
  return publicUrl === undefined || LOCAL_HOST.test(new URL(publicUrl).host);
}
