/** Makes one attempt of a delivery: builds the request, sends it, and returns the outcome. */
import type { Outbound, OutboundRequest, OutboundResponse } from '../outbound/client.ts';
import { OutboundError } from '../outbound/outbound-error.ts';
import type { MaskText } from '../work/secret-mask.ts';
import type { ClaimedDelivery, DeliveryTarget } from './outbox.ts';
import type { Outcome } from './retry-decision.ts';
import { createSignatureHeaders } from './sign.ts';

/** How much of a response is stored: enough for an error message. */
const STORED_BYTES_MAX = 4 * 1024;

/**
 * How much of a response is read. An ordinary response is smaller, and must be read completely so that its connection
 * can be reused.
 */
const RESPONSE_BYTES_MAX = 16 * 1024;

interface SendOptions {
  attemptMs: number;
  /** Aborts the attempt; its outcome is then unknown. */
  signal: AbortSignal;
}

/** Sends the message and returns the outcome. Throws only if the signal aborted the attempt. */
export async function send(
  delivery: ClaimedDelivery,
  outbound: Outbound,
  options: SendOptions,
): Promise<Outcome> {
  const { target } = delivery;
  if (!target) {
    return { responseStatus: null, error: "The destination's secrets could not be opened." };
  }
  try {
    return toOutcome(await outbound.send(buildRequest(delivery, target, options)), target.mask);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return { responseStatus: null, error: error.message };
  }
}

function buildRequest(
  { row, clockOffsetMs }: ClaimedDelivery,
  { keys, url, headers }: DeliveryTarget,
  options: SendOptions,
): OutboundRequest {
  // Receivers refuse messages with a wrong time, so the timestamp is the time of the database's clock.
  const timestampSeconds = Math.floor((performance.now() + clockOffsetMs) / 1000);
  const message = { id: row.id, timestampSeconds, body: row.body };
  return {
    method: 'POST',
    url,
    headers: {
      'user-agent': 'integration-gateway',
      ...lowercaseNames(headers),
      'content-type': 'application/json',
      ...createSignatureHeaders(message, keys),
    },
    body: row.body,
    timeoutMs: options.attemptMs,
    responseBytesMax: RESPONSE_BYTES_MAX,
    signal: options.signal,
  };
}

/** Masks the destination's secrets, because receivers may repeat their requests. */
function toOutcome(
  { status, headers, body, truncated }: OutboundResponse,
  mask: MaskText,
): Outcome {
  const contentType = headers['content-type'];
  return {
    responseBody: decodeResponse(body, { contentType, mask, isCut: truncated }),
    responseStatus: status,
    error: status >= 200 && status < 300 ? null : describeStatus(status),
    retryAfter: headers['retry-after'],
  };
}

interface DecodeOptions {
  contentType: string | undefined;
  mask: MaskText;
  /** True if the body is incomplete. */
  isCut?: boolean;
}

/**
 * Returns the beginning of a response as text. Null if the response is empty, and a note if it is not text. Secrets are
 * masked before the text is cut, so that no part of one remains.
 */
export function decodeResponse(
  body: Buffer,
  { contentType, mask, isCut = false }: DecodeOptions,
): string | null {
  if (body.length === 0) return null;
  const beginning = tryDecode(body.subarray(0, STORED_BYTES_MAX));
  // The database can't store NUL.
  if (beginning === null || beginning.includes('\0')) {
    return `(binary, ${contentType === undefined ? 'of no content type' : mask(contentType).slice(0, 100)})`;
  }
  // The rest may be binary. Its secrets are masked before it is cut off.
  const text = new TextDecoder().decode(body, { stream: true }).replaceAll('\0', '\ufffd');
  return tryDecode(Buffer.from(mask(text, { isCut })).subarray(0, STORED_BYTES_MAX));
}

/** Omits a character that is cut off at the end. Null if the bytes are not UTF-8. */
function tryDecode(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return null;
  }
}

function describeStatus(status: number): string {
  return status >= 300 && status < 400
    ? `The receiver responded with ${status}: redirects are not followed.`
    : `The receiver responded with ${status}.`;
}

function lowercaseNames(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
