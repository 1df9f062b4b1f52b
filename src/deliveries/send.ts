/** Makes one attempt of a delivery: builds the request, sends it, and returns the outcome. */
import type { Outbound, OutboundRequest, OutboundResponse } from '../outbound/client.ts';
import { OutboundError } from '../outbound/outbound-error.ts';
import type { ClaimedDelivery, DeliveryTarget } from './claim.ts';
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
    return toOutcome(await outbound.send(buildRequest(delivery, target, options)));
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

function toOutcome({ status, headers, body }: OutboundResponse): Outcome {
  return {
    responseBody: decodeResponse(body, headers['content-type']),
    responseStatus: status,
    error: status >= 200 && status < 300 ? null : describeStatus(status),
    retryAfter: headers['retry-after'],
  };
}

/** Returns the beginning of a response as text. Null if the response is empty, and a note if it is not text. */
export function decodeResponse(body: Buffer, contentType: string | undefined): string | null {
  if (body.length === 0) return null;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    // With `stream`, the decoder omits a character that the limit cuts off.
    const text = decoder.decode(body.subarray(0, STORED_BYTES_MAX), { stream: true });
    // The database can't store NUL.
    if (!text.includes('\0')) return text;
  } catch {
    // The response is not UTF-8.
  }
  return `(binary, ${contentType?.slice(0, 100) ?? 'of no content type'})`;
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
