/**
 * Why an outbound request has no usable response:
 * - REFUSED_ADDRESS: nothing was sent, because the address, the protocol or the URL is not permitted.
 * - UNREACHABLE: nothing was sent, because the name, the connection or a free socket was not available in time.
 * - TIMEOUT, DISCONNECTED: the request was sent, but no complete response arrived. The receiver may have acted on it.
 * - TOO_LARGE: the response is larger than the limit, and the caller needs all of it.
 */
export type OutboundErrorKind =
  | 'REFUSED_ADDRESS'
  | 'UNREACHABLE'
  | 'TIMEOUT'
  | 'DISCONNECTED'
  | 'TOO_LARGE';

/** A failed outbound request. Users may see the message: it contains nothing of the request except the host. */
export class OutboundError extends Error {
  override name = 'OutboundError';
  readonly kind: OutboundErrorKind;

  constructor(kind: OutboundErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Converts a network failure. `wasSent` is true if the request had a connection. */
export function toOutboundError(error: unknown, wasSent: boolean): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = formatCode(error);
  return wasSent
    ? new OutboundError('DISCONNECTED', `The connection ended before the response${code}.`)
    : new OutboundError('UNREACHABLE', `No connection could be made${code}.`);
}

/** Returns the error's code in parentheses. Its message may contain internal addresses. */
function formatCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? ` (${code})` : '';
}
