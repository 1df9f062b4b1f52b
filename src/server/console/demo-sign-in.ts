/** The demo's credentials, for the console's one-click sign-in and GraphiQL's tabs. Only a browser on this machine gets them. */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

export interface DemoSignIn {
  apiKey: string;
  bearerToken?: string | undefined;
}

/** A page of another name that resolves to this machine is another page: its Host header gives it away. */
const LOCAL_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i;

/** Through a proxy the address is that of somebody else, or the headers say that there is one. */
export function isFromThisMachine(
  { headers }: Pick<IncomingMessage, 'headers'>,
  address: string,
): boolean {
  const isForwarded = headers.forwarded !== undefined || 'x-forwarded-for' in headers;
  const isLoopback = ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
  return isLoopback && !isForwarded && LOCAL_HOST.test(headers.host ?? '');
}
