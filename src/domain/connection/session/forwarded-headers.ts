/** Which headers of a forwarded request go on to the provider, and which of its answer's come back. */
import { CONNECTION_HEADERS } from '../../../outbound/connection-headers.ts';

type Headers = Record<string, string | string[]>;

/** For the gateway alone: credentials, routing and the hops before it. */
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
/** Headers that a provider may not set for the gateway's origin, and those that the gateway sets itself. */
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

/** A request's headers without credentials: the connection's are added later. */
export function requestHeaders(given: Record<string, string | string[] | undefined>): Headers {
  const kept = without(given, (name) => FOR_US.has(name) || name.startsWith('x-forwarded-'));
  return { 'user-agent': USER_AGENT, ...kept };
}

/** Of an answer. */
export function answerHeaders(given: Headers): Headers {
  return without(given, (name) => OURS_TO_SAY.has(name) || name.startsWith('access-control-'));
}

/** Also drops headers that Connection lists: they are for one hop (RFC 9110, 7.6.1). */
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
