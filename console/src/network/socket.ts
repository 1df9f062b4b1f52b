/**
 * The WebSocket of the tab, which all live lists share. It opens on first use, and reconnects when it breaks.
 */
import { type Client, createClient } from 'graphql-ws';
import { connectionState, GRAPHQL_URL } from './connection-state.ts';
import type { HeaderMap } from './fetch-graphql.ts';

const RETRY_MS_MAX = 5_000;
/** Close codes for wrong credentials and protocol errors, after which a retry is useless. */
const FATAL = new Set([4400, 4401, 4403, 4406, 4409]);

export function createSocket(headers: HeaderMap): Client {
  const url = new URL(GRAPHQL_URL, location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return createClient({
    url: url.href,
    connectionParams: headers,
    retryAttempts: Number.POSITIVE_INFINITY,
    retryWait: (retries) =>
      new Promise((resolve) => setTimeout(resolve, Math.min(RETRY_MS_MAX, 250 * 2 ** retries))),
    shouldRetry: (event) => !(event instanceof CloseEvent && FATAL.has(event.code)),
    on: {
      connected: () => connectionState.setLost(false),
      closed: (event) => {
        if (event instanceof CloseEvent && event.code !== 1000) connectionState.setLost(true);
      },
    },
  });
}
