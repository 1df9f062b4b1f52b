/**
 * Why an outbound request got no usable answer.
 * - REFUSED_ADDRESS: nothing was sent: the address, the protocol or the URL is not permitted.
 * - UNREACHABLE: nothing was sent: no name, no connection, or none free in time.
 * - TIMEOUT, DISCONNECTED: sent, but no whole answer came: the receiver may have acted on it.
 * - TOO_LARGE: answered, but the caller needs the whole answer and it is over the limit.
 */
export const OUTBOUND_ERROR_KINDS = [
  'REFUSED_ADDRESS',
  'UNREACHABLE',
  'TIMEOUT',
  'DISCONNECTED',
  'TOO_LARGE',
] as const;
export type OutboundErrorKind = (typeof OUTBOUND_ERROR_KINDS)[number];

/** Its message is for people, and holds no more of the request than the host. */
export class OutboundError extends Error {
  override name = 'OutboundError';
  readonly kind: OutboundErrorKind;

  constructor(kind: OutboundErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** What a failure of the network means; `wasSent` tells whether the request had a connection. */
export function outboundError(error: unknown, wasSent: boolean): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = codeOf(error);
  return wasSent
    ? new OutboundError('DISCONNECTED', `The connection ended before the answer${code}.`)
    : new OutboundError('UNREACHABLE', `No connection could be made${code}.`);
}

/** Only the code: a message of the network may hold addresses that people should not see. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? ` (${code})` : '';
}
