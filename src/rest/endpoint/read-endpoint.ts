/** Defines the endpoint of a read. The need and the function come from the read's declaration. */
import type { z } from 'zod';
import type { Read } from '../../domain/declared-read.ts';
import {
  describe,
  type Endpoint,
  type EndpointBase,
  type EndpointResponse,
  endpoint,
  NOT_MODIFIED,
  type OtherPlaces,
  respond,
} from './endpoint.ts';

type Definition<I extends z.ZodObject, R, Shown> = EndpointBase & {
  read: Read<[input: z.output<I>], R | Promise<R>>;
  input: I;
  places?: OtherPlaces<I>;
  /** The version of the response. A client that has it already gets 304 instead. */
  etag?(found: R): string;
} & EndpointResponse<R, Shown, [input: z.output<I>]>;

export function readEndpoint<I extends z.ZodObject, R, Shown>({
  read,
  etag,
  ...rest
}: Definition<I, R, Shown>): Endpoint {
  const { show, ...response } = respond<R, Shown, [z.output<I>]>(rest);
  return endpoint({
    ...rest,
    ...describe(read, rest),
    ...response,
    method: 'GET',
    status: 200,
    needs: read.needs,
    hasEtag: etag !== undefined,
    async run(request, input) {
      const found = await read(request.call, input);
      if (etag && request.hasVersion(etag(found))) return NOT_MODIFIED;
      return show(found, request, input);
    },
  });
}
