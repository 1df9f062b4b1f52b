/**
 * Masks credentials and record values in requests to providers and their responses, before they are recorded.
 * Names, harmless headers and descriptions of errors stay.
 */
import { isUtf8 } from 'node:buffer';
import { decodeResponse } from '../../../deliveries/send.ts';
import { MASK } from '../../../kernel/secrets.ts';
import { isTooDeep } from '../../../work/bounded-parse.ts';
import { describeExcess } from '../../../work/json-size.ts';
import { listHeaderSecrets, type MaskText, SecretMask } from '../../../work/secret-mask.ts';
import { toStorableString } from '../../base/storable-json.ts';
import type { ObservedRequest } from './observed-outbound.ts';

/** Longer bodies are not recorded, because searching them for values takes too long. */
const SEARCHED_BYTES_MAX = 256 * 1024;
/** Responses with more lists, objects, members or items are not recorded. A batch has a few for each of its records. */
const SEARCHED_VALUES_MAX = 10_000;
/** How much of the texts of a response is searched and shown. Only the first kilobytes are stored. */
const SHOWN_LENGTH_MAX = 16 * 1024;
const ERROR_LENGTH_MAX = 1_000;

/** A request without credentials and values, for its row. */
interface MaskedRequest {
  method: string;
  host: string;
  path: string;
  requestHeaders: Record<string, string>;
  responseHeaders: Record<string, string> | null;
  responseBody: string | null;
  error: string | null;
}

export function maskRequest(observed: ObservedRequest): MaskedRequest {
  const { request, response, error, secrets } = observed;
  const { mask } = secrets;
  const url = new URL(request.url);
  return {
    method: request.method,
    host: url.host,
    path: mask(maskPath(url)),
    requestHeaders: maskHeaders(request.headers, mask),
    responseHeaders: response && maskHeaders(response.headers, mask),
    responseBody: response?.body
      ? maskBody({ request, response, secrets, body: response.body })
      : null,
    error: error && toStorableString(mask(error).slice(0, ERROR_LENGTH_MAX)),
  };
}

/** Matches segments of a path that may be addresses of people or secrets. Other segments are names and ids. */
const PRIVATE_SEGMENT = /@|%40|^.{65,}$/i;
/** Matches page sizes, offsets and flags. */
const HARMLESS_VALUE = /^(\d{1,5}|true|false)$/;
/** Matches times, which are the window of a read. Dates without a time may be birthdays. */
const TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?/g;
/** Matches names of parameters that limit the time of changes. */
const WINDOW_NAME = /since|after|before|from|until|start|end|updated|modified|created|changed/i;
/** Matches dates, and seconds or milliseconds since 1970. */
const WINDOW_VALUE = /^(\d{4}-\d\d-\d\d|\d{10}|\d{13})$/;

function maskPath({ pathname, searchParams }: URL): string {
  const segments = pathname
    .split('/')
    .map((segment) => (PRIVATE_SEGMENT.test(segment) ? MASK : segment));
  const query = [...searchParams].map(
    ([name, value]) => `${encodeURIComponent(name)}=${maskQueryValue(name, value)}`,
  );
  return segments.join('/') + (query.length > 0 ? `?${query.join('&')}` : '');
}

/** Matches names of parameters whose values are names of fields. */
const FIELDS_NAME =
  /^[$_]?(fields?|select|properties|columns|include|expand|sort|(sort|order)_?by)$/i;
const FIELD_NAMES = /^[\w$.,:+-]{1,1000}$/;

/**
 * Masks a value of a query, except its times and names of fields. A condition on a time becomes
 * `***2026-01-02T00:00:00Z***`.
 */
export function maskQueryValue(name: string, value: string): string {
  if (HARMLESS_VALUE.test(value)) return value;
  if (FIELDS_NAME.test(name) && FIELD_NAMES.test(value)) return value;
  if (WINDOW_NAME.test(name) && WINDOW_VALUE.test(value)) return value;
  const times = value.match(TIME) ?? [];
  const others = value.split(TIME).map((text) => (text === '' ? '' : MASK));
  return others.map((text, index) => text + (times[index] ?? '')).join('');
}

const SHOWN_NAMES = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'allow',
  'cache-control',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'retry-after',
  'server',
  'user-agent',
  'vary',
]);
/** Matches names of headers with limits, versions, and ids by which a provider's support finds requests. */
const SHOWN_NAME_PATTERN = /(request|correlation|trace)-?id$|rate-?limit|limit-info$|version$/;

function isShownHeader(name: string): boolean {
  return SHOWN_NAMES.has(name) || SHOWN_NAME_PATTERN.test(name);
}

/** A provider chooses the names of headers too, so they may repeat a secret. */
function maskHeaders(
  headers: Record<string, string | string[]>,
  mask: MaskText,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      mask(name),
      isShownHeader(name) ? toStorableString(mask([value].flat().join(', '))) : MASK,
    ]),
  );
}

interface FailedExchange {
  request: ObservedRequest['request'];
  response: NonNullable<ObservedRequest['response']>;
  secrets: SecretMask;
  body: Buffer;
}

/** Returns null for an empty body. */
function maskBody({ request, response, secrets, body }: FailedExchange): string | null {
  if (body.length === 0) return null;
  const omission = `(not recorded: ${body.length.toLocaleString('en')} bytes)`;
  const sentBytes = Buffer.byteLength(request.body ?? '');
  if (body.length > SEARCHED_BYTES_MAX || sentBytes > SEARCHED_BYTES_MAX) return omission;
  const contentType = [response.headers['content-type'] ?? []].flat()[0];
  if (!isUtf8(body)) return decodeResponse(body, { contentType, mask: secrets.mask });
  const text = body.toString('utf8');
  const json = parseSearched(text);
  if (json === null) return omission;
  const mask = createPrivateMask(new SecretMask(secrets.secrets, listSentValues(request)));
  const maskedText =
    json === undefined ? mask(text) : JSON.stringify(maskOutsideErrors(json, mask), null, 1);
  return decodeResponse(Buffer.from(maskedText), { contentType, mask: secrets.mask });
}

/** Parses JSON. Returns undefined for a text that is not JSON, and null for a value that takes too long to search. */
export function parseSearched(text: string): unknown {
  if (text.length > SEARCHED_BYTES_MAX) return null;
  const limits = { containers: SEARCHED_VALUES_MAX, values: SEARCHED_VALUES_MAX };
  const json = describeExcess(text, limits) === null ? tryParseJson(text) : null;
  return isTooDeep(json) ? null : json;
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Matches members with which APIs describe errors: members of RFC 9457, RFC 6749 and OData, and names of providers. */
const ERROR_MEMBER =
  /^(errors?|error_?(codes?|descriptions?|types?|messages?|uri|summary)|faults?|codes?|sub_?codes?|messages?|msg|status|status_?code|type|title|details?|descriptions?|reasons?|(sub_?)?category|(correlation|request|trace)_?id|fields?|property|path|pointer|parameter|source|domain|context|policy_?name|hint|help|documentation_?url|summary|success|ok)$/i;
/**
 * Matches members that mark an object as an error. Few records have them. An object without such a member may be a record,
 * whose title or description is private.
 */
const ERROR_MARK = /^(error|fault|message|msg|code|reason)/i;

/**
 * Masks the values that do not describe an error. Inside an error, a list may have any name: in
 * `{"errors": {"email": ["is invalid"]}}`, the name is that of a field.
 */
function maskOutsideErrors(value: unknown, mask: MaskText, isInError = false): unknown {
  if (Array.isArray(value)) return value.map((item) => maskOutsideErrors(item, mask, isInError));
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value);
    const isError = isInError || members.some(([name]) => ERROR_MARK.test(name));
    return Object.fromEntries(
      members.map(([name, member]) => {
        const describesError =
          isError && (ERROR_MEMBER.test(name) || (isInError && Array.isArray(member)));
        const maskedMember = describesError
          ? maskOutsideErrors(member, mask, true)
          : maskValue(member);
        return [mask(name), maskedMember];
      }),
    );
  }
  if (!isInError) return maskValue(value);
  if (typeof value === 'string') return mask(value);
  return mask(String(value)) === String(value) ? value : MASK;
}

export function maskValue(value: unknown): unknown {
  return value === null || typeof value === 'boolean' ? value : MASK;
}

/** Shorter strings are more often words than values, even as a whole text. */
const VALUE_LENGTH_MIN = 3;

/** Lists the values of the request, which an error may repeat. */
function listSentValues({ url, headers, body }: ObservedRequest['request']): string[] {
  const values = new Set<string>();
  const addText = (text: string): void => {
    if (text.length >= VALUE_LENGTH_MIN && !HARMLESS_VALUE.test(text)) values.add(text);
  };
  const add = (value: unknown): void => {
    if (typeof value === 'string' || typeof value === 'number') addText(String(value));
    if (typeof value !== 'object' || value === null) return;
    for (const member of Object.values(value)) add(member);
  };
  for (const [name, value] of Object.entries(headers)) {
    if (!isShownHeader(name)) add([value].flat().map(listHeaderSecrets));
  }
  for (const [name, value] of new URL(url).searchParams) {
    if (maskQueryValue(name, value) !== value) add(value);
  }
  const text = body?.toString() ?? '';
  const json = tryParseJson(text);
  if (json !== undefined) {
    add(json);
  } else {
    for (const [name, value] of new URLSearchParams(text)) if (name !== 'grant_type') add(value);
  }
  return [...values];
}

/** Matches addresses of people, credentials in the form of a header, and strings as long as tokens. */
const PRIVATE_PART =
  /[^\s@"'<>()]{1,64}@[^\s@"'<>()]{1,255}\.[a-z]{2,}|\b(?:Bearer|Basic)\s+[\w.~+/=-]+|[\w~+/=-]{40,}/gi;

/**
 * Returns a function that also masks private parts, after the values, which may contain such a part. It masks all texts
 * after the first SHOWN_LENGTH_MAX characters.
 */
export function createPrivateMask({ mask }: SecretMask): MaskText {
  let remaining = SHOWN_LENGTH_MAX;
  return (text) => {
    if (remaining === 0) return MASK;
    const shownText = text.slice(0, remaining);
    remaining -= shownText.length;
    const isCut = shownText.length < text.length;
    const maskedText = mask(shownText, { isCut }).replace(PRIVATE_PART, MASK);
    return isCut ? maskedText + MASK : maskedText;
  };
}
