/** Defines the endpoint of a read. The need and the function come from the read's declaration. */
import type { z } from 'zod';
import type { Read } from '../../domain/declared-read.ts';
import {
  type Described,
  type Endpoint,
  endpoint,
  type OtherPlaces,
  type RestRequest,
} from './endpoint.ts';

interface Definition<I extends z.ZodObject, R, Shown> extends Described<Shown> {
  read: Read<[input: z.output<I>], R | Promise<R>>;
  input: I;
  places?: OtherPlaces<I>;
  show(found: R, request: RestRequest, input: z.output<I>): Shown | Promise<Shown>;
}

export function readEndpoint<I extends z.ZodObject, R, Shown>({
  read,
  show,
  ...rest
}: Definition<I, R, Shown>): Endpoint {
  return endpoint({
    ...rest,
    method: 'GET',
    status: 200,
    needs: read.needs,
    run: async (request, input) => show(await read(request.call, input), request, input),
  });
}
