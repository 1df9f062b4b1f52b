/** Shows the requests of a test and their responses. Bodies keep the names of members, and lose their values. */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { decodeResponse } from '../../../deliveries/send.ts';
import { type MaskText, SecretMask } from '../../../work/secret-mask.ts';
import { resource } from '../../base/resource.ts';
import { CONTENT_TYPES } from '../connection/session/provider-request.ts';
import {
  createPrivateMask,
  maskQueryValue,
  maskRequest,
  maskValue,
  parseSearched,
} from './masked-request.ts';
import type { ObservedRequest, RequestObserver } from './observed-outbound.ts';
import { recordedRequestResource } from './recorded-request.ts';

/** The maximum number of requests that are shown for an object. A page of nested lists takes hundreds. */
const REQUESTS_MAX = 5;
/** The number of items of a list that are shown. */
const ITEMS_MAX = 2;
/** The maximum number of members and items that are shown of one body or record. */
const VALUES_MAX = 1_000;

const {
  kind,
  method,
  host,
  path,
  responseStatus,
  error,
  durationMs,
  requestHeaders,
  responseHeaders,
} = recordedRequestResource.shape;

export const testedRequestResource = resource(
  'TestedRequest',
  'A request of `testProvider` and its response. Credentials and record values are replaced by `***`. It is not recorded.',
  {
    ...{ kind, method, host, path, requestHeaders },
    requestBody: z
      .string()
      .nullable()
      .describe('The beginning of the body of the request, at most 4 KiB. {Null} without a body.'),
    ...{ responseStatus, responseHeaders },
    responseBody: z
      .string()
      .nullable()
      .describe(
        `The beginning of the body of the response, at most 4 KiB, or a note why it is not shown. Lists show their first ${ITEMS_MAX} items. {Null} without a body.`,
      ),
    ...{ error, durationMs },
  },
);
export type TestedRequest = z.output<typeof testedRequestResource>;

/** Collects the latest requests of a test. They are masked immediately, so that no body stays in memory. */
export class TestRequests implements RequestObserver {
  readonly seesBodies = true;
  readonly list: TestedRequest[] = [];
  /** The secrets of the requests. */
  secrets = new SecretMask();

  observe(observed: ObservedRequest): void {
    this.secrets = observed.secrets;
    this.list.push(toTestedRequest(observed));
    if (this.list.length > REQUESTS_MAX) this.list.shift();
  }
}

/** Returns a record of an account without its values. */
export function outlineRecord(
  record: Record<string, unknown>,
  secrets: SecretMask,
): Record<string, unknown> {
  return outlineValue(record, secrets) as Record<string, unknown>;
}

function toTestedRequest(observed: ObservedRequest): TestedRequest {
  const { kind, durationMs, request, response, secrets, isFailed } = observed;
  // The mask of failed responses shows members that describe errors, and are private in a record.
  const shownResponse = response && { ...response, ...(!isFailed && { body: undefined }) };
  const masked = maskRequest({ ...observed, response: shownResponse });
  return {
    ...{ kind, durationMs, responseStatus: response?.status ?? null },
    ...masked,
    requestBody: outlineBody({ ...request, secrets, maskLeaf: maskSentValue }),
    ...(!isFailed &&
      response && { responseBody: outlineBody({ ...response, secrets, maskLeaf: maskValue }) }),
  };
}

interface Body {
  headers: Record<string, string | string[]>;
  body?: string | Buffer | undefined;
  secrets: SecretMask;
  maskLeaf: MaskLeaf;
}

/** Returns null for an empty body. */
function outlineBody({ headers, body, secrets, maskLeaf }: Body): string | null {
  const bytes = Buffer.from(body ?? '');
  if (bytes.length === 0) return null;
  const contentType = [headers['content-type'] ?? []].flat()[0];
  const text = isUtf8(bytes) ? bytes.toString('utf8') : '';
  const value =
    contentType === CONTENT_TYPES.form
      ? Object.fromEntries(new URLSearchParams(text))
      : parseSearched(text);
  if (value == null) return `(not shown: ${bytes.length.toLocaleString('en')} bytes)`;
  const outline = JSON.stringify(outlineValue(value, secrets, maskLeaf), null, 1);
  return decodeResponse(Buffer.from(outline), { contentType, mask: secrets.mask });
}

/** Masks a value of this member. `mask` masks parts that are secret or private. */
type MaskLeaf = (value: unknown, name: string, mask: MaskText) => unknown;

/** Matches documents of GraphQL, which have the names of fields and no values of records. */
const GRAPHQL = /^\s*(query|mutation|\{)/;

const maskSentValue: MaskLeaf = (value, name, mask) => {
  if (typeof value !== 'string' && typeof value !== 'number') return maskValue(value);
  const text = String(value);
  return name === 'query' && GRAPHQL.test(text) ? mask(text) : maskQueryValue(name, text);
};

/** Returns a value without private texts and numbers. Lists have their first items, and the number of the others. */
function outlineValue(
  value: unknown,
  { secrets }: SecretMask,
  maskLeaf: MaskLeaf = maskValue,
): unknown {
  const mask = createPrivateMask(new SecretMask(secrets));
  let remaining = VALUES_MAX;
  const outline = (inner: unknown, name: string): unknown => {
    if (typeof inner !== 'object' || inner === null) return maskLeaf(inner, name, mask);
    const shownCount = Array.isArray(inner) ? Math.min(ITEMS_MAX, remaining) : remaining;
    const members = Object.entries(inner);
    const shown = members.slice(0, shownCount);
    remaining -= shown.length;
    if (!Array.isArray(inner)) {
      return Object.fromEntries(shown.map(([key, item]) => [mask(key), outline(item, key)]));
    }
    const omitted = members.length - shown.length;
    return [
      ...shown.map(([, item]) => outline(item, name)),
      ...(omitted > 0 ? [`(${omitted} more)`] : []),
    ];
  };
  return outline(value, '');
}
