/** Which headers of a forwarded request go on to the provider, and which of its answer come back. */
import { CONNECTION_HEADERS } from '../../../outbound/connection-headers.ts';

type Headers = Record<string, string | string[]>;

/** For the gateway alone: who calls it, by which way, and for what. */
const FOR_US = new Set([
  ...CONNECTION_HEADERS,
  'authorization',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'via',
  'x-api-key',
  'x-group-ref',
  'x-installation-id',
  'x-integration-name',
  'x-project-id',
  'x-proxy-version',
  'x-rate-limiter-mode',
  'x-real-ip',
]);
/** What a provider may not set for the gateway's own origin, and what the gateway tells of itself. */
const OURS_TO_SAY = new Set([
  ...CONNECTION_HEADERS,
  'alt-svc',
  'clear-site-data',
  'ratelimit',
  'ratelimit-policy',
  'set-cookie',
  'strict-transport-security',
  'x-request-id',
]);

/** Some providers refuse requests without one. */
const USER_AGENT = 'integration-gateway';

/** Of a request; the connection's credentials are still to be added. */
export function requestHeaders(given: Record<string, string | string[] | undefined>): Headers {
  const kept = without(given, (name) => FOR_US.has(name) || name.startsWith('x-forwarded-'));
  return { 'user-agent': USER_AGENT, ...kept };
}

/** Of an answer. */
export function answerHeaders(given: Headers): Headers {
  return without(given, (name) => OURS_TO_SAY.has(name) || name.startsWith('access-control-'));
}

/** Also without those that Connection lists: they are of the one connection by it. */
function without(
  given: Record<string, string | string[] | undefined>,
  isLeftOut: (name: string) => boolean,
): Headers {
  const listed = [given.connection ?? []]
    .flat()
    .join(',')
    .toLowerCase()
    .split(/[\s,]+/);
  const kept = Object.entries(given).flatMap(([name, value]) =>
    value === undefined || listed.includes(name) || isLeftOut(name) ? [] : [[name, value] as const],
  );
  return Object.fromEntries(kept);
}
