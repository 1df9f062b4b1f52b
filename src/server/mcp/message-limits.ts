/** Limits of messages, which the SDK would otherwise validate at any size, and of its refusals, which repeat their values. */
import { invalid } from '../../kernel/errors.ts';
import { isObject } from '../../work/is-object.ts';
import { describeExcess } from '../../work/json-size.ts';

/** The maximum size of a message. The largest record that a tool accepts is far smaller. */
export const MESSAGE_BYTES_MAX = 256 * 1024;
/** The maximum number of lists and objects, and of members and items. */
const VALUES_MAX = 1_000;
/** The part of a message that costs one request of the caller's rate. */
const BYTES_PER_REQUEST = 4 * 1024;
const ID_LENGTH_MAX = 256;
/** The maximum size of a refusal in a response. */
export const REFUSAL_BYTES_MAX = 4_000;
/** Members of a refusal besides its message. */
const MESSAGE_LENGTH_MAX = 500;

/** A message, or why it is refused. */
type ParsedMessage = { message: unknown } | { refusal: Error };

/** Parses a message within the limits. Returns undefined for text that is not JSON. The SDK then refuses it. */
export function parseMessage(text = ''): ParsedMessage {
  const excess = describeExcess(text, { containers: VALUES_MAX, values: VALUES_MAX });
  if (excess) return { refusal: invalid(['body'], excess) };
  const message = parseJson(text);
  // A batch would count as one request towards the caller's rate limit.
  if (Array.isArray(message)) {
    return { refusal: invalid(['body'], 'must be one JSON-RPC message, not a batch.') };
  }
  const { id } = (message ?? {}) as { id?: unknown };
  if (typeof id === 'string' && id.length > ID_LENGTH_MAX) {
    return { refusal: invalid(['id'], `must have at most ${ID_LENGTH_MAX} characters.`) };
  }
  return { message };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the number of requests that a message counts as in the caller's rate. */
export function countRequests(text = ''): number {
  return Math.max(1, Math.ceil(Buffer.byteLength(text) / BYTES_PER_REQUEST));
}

/** Returns the SDK's response, whose error is shortened if it exceeds the limit. */
export async function boundResponse(response: Response): Promise<Response> {
  const body = response.body && (await response.arrayBuffer());
  if (!body || body.byteLength <= REFUSAL_BYTES_MAX) return new Response(body, response);
  const text = Buffer.from(body).toString('utf8');
  const error = findError(text);
  if (!error) return new Response(body, response);
  return Response.json(error, { status: response.status });
}

/** Returns the shortened error of a response. Null for a result, whose member is near its start. */
function findError(text: string): object | null {
  if (text.slice(0, 2 * ID_LENGTH_MAX).includes('"result":')) return null;
  const message = parseJson(text.replace(/^(event: .*\n)?data: /, ''));
  if (!isObject(message) || !isObject(message.error)) return null;
  const { error, ...members } = message;
  const detail = String(error.message);
  const isLong = detail.length > MESSAGE_LENGTH_MAX;
  const shownDetail = isLong ? `${detail.slice(0, MESSAGE_LENGTH_MAX)}…` : detail;
  return { ...members, error: { code: error.code, message: shownDetail } };
}
