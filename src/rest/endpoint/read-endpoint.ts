/** Defines the endpoint of a read. The need and the function come from the read's declaration. */
import type { z } from 'zod';
import type { Read } from '../../domain/declared-read.ts';
import {
  type Described,
  describe,
  type Endpoint,
  endpoint,
  type OtherPlaces,
  type Response,
  respond,
} from './endpoint.ts';

type Definition<I extends z.ZodObject, R, Shown> = Described & {
  read: Read<[input: z.output<I>], R | Promise<R>>;
  input: I;
  places?: OtherPlaces<I>;
} & Response<R, Shown, [input: z.output<I>]>;

export function readEndpoint<I extends z.ZodObject, R, Shown>({
  read,
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
    run: async (request, input) => show(await read(request.call, input), request, input),
  });
}
