/** One attempt of a delivery: the request, its sending, and what came of it. */
import type { Outbound, OutboundAnswer, OutboundRequest } from '../outbound/client.ts';
import { OutboundError } from '../outbound/error.ts';
import type { Job } from './claim.ts';
import type { Outcome } from './decide.ts';
import { signedHeaders } from './sign.ts';

/** The status is what counts; reading so much lets ordinary answers end, and their connections live on. */
const ANSWER_BYTES = 16 * 1024;

export interface SendOptions {
  attemptMs: number;
  /** Gives the attempt up; its outcome is then unknown. */
  signal: AbortSignal;
}

/** Returns what came of it; throws only where the signal gave it up. */
export async function send(job: Job, outbound: Outbound, options: SendOptions): Promise<Outcome> {
  if (job.keys.length === 0) {
    return { responseStatus: null, error: 'The message could not be signed.' };
  }
  try {
    return outcomeOf(await outbound.send(prepare(job, options)));
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return { responseStatus: null, error: error.message };
  }
}

function prepare({ row, keys, clockOffsetMs }: Job, options: SendOptions): OutboundRequest {
  // The database's time: receivers refuse messages whose time is off, and one clock is easier kept.
  const timestampSeconds = Math.floor((performance.now() + clockOffsetMs) / 1000);
  const message = { id: row.id, timestampSeconds, body: row.body };
  return {
    method: 'POST',
    url: row.url,
    headers: {
      'user-agent': 'integration-gateway',
      ...lowercased(row.headers ?? {}),
      'content-type': 'application/json',
      ...signedHeaders(message, keys),
    },
    body: row.body,
    timeoutMs: options.attemptMs,
    answerBytes: ANSWER_BYTES,
    signal: options.signal,
  };
}

function outcomeOf({ status, headers }: OutboundAnswer): Outcome {
  return {
    responseStatus: status,
    error: status >= 200 && status < 300 ? null : errorOf(status),
    retryAfter: headers['retry-after'],
  };
}

function errorOf(status: number): string {
  return status >= 300 && status < 400
    ? `The receiver answered ${status}: redirects are not followed.`
    : `The receiver answered ${status}.`;
}

function lowercased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
