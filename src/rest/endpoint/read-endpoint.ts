/** Defines the GET endpoint of a declared read. The read determines its need and its description. */
import type { z } from 'zod';
import type { Read } from '../../domain/declared-read.ts';
import {
  type DeclaredLocations,
  describeEndpoint,
  type Endpoint,
  type EndpointBase,
  type EndpointResponse,
  endpoint,
  NOT_MODIFIED,
  type RestRequest,
} from './endpoint.ts';

interface Definition<I extends z.ZodObject, R> extends EndpointBase, EndpointResponse {
  read: Read<[input: z.output<I>], R | Promise<R>>;
  input: I;
  locations?: DeclaredLocations<I>;
  /** Returns the value of `resource`. Default: the result of the read. */
  show?(result: R, request: RestRequest, input: z.output<I>): unknown;
  /** Returns the version of the response. A client that already has this version gets 304. */
  etag?(result: R): string;
}

export function readEndpoint<I extends z.ZodObject, R>(definition: Definition<I, R>): Endpoint {
  const { read, etag, show } = definition;
  return endpoint<I>({
    ...definition,
    ...describeEndpoint(read, definition),
    method: 'GET',
    status: 200,
    needs: read.needs,
    hasEtag: etag !== undefined,
    async run(request, input) {
      const result = await read(request.call, input);
      const tag = etag && `"${etag(result)}"`;
      if (tag) request.setHeader('etag', tag);
      if (tag && matchesTag(request.knownVersions, tag)) return NOT_MODIFIED;
      return show ? show(result, request, input) : result;
    },
  });
}

/** True if the header `If-None-Match` names the tag. Proxies may have marked it as weak (RFC 9110, 13.1.2). */
function matchesTag(header: string | undefined, tag: string): boolean {
  const names = (header ?? '').split(',').map((name) => name.trim().replace(/^W\//, ''));
  return names.includes('*') || names.includes(tag);
}
