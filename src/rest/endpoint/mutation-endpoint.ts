/** Defines the endpoint of a mutation. The input, the need and the function come from the mutation's declaration. */
import type { z } from 'zod';
import type { Mutation } from '../../domain/declared-mutation.ts';
import {
  type Described,
  type Endpoint,
  endpoint,
  type OtherPlaces,
  type RestRequest,
} from './endpoint.ts';
import type { Place } from './places.ts';

interface Definition<S extends z.ZodObject, R, B extends z.ZodRawShape, Shown>
  extends Described<Shown> {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  status: 200 | 201 | 204;
  mutation: Mutation<S, R>;
  places?: OtherPlaces<S> & { [member in keyof B & string]?: Place };
  mask?: string;
  /** Members of the request that are not part of the mutation's input. */
  beside?: B;
  /** Throws if these members refuse the request. */
  before?(request: RestRequest, input: z.output<S> & z.output<z.ZodObject<B>>): Promise<unknown>;
  show(result: R, request: RestRequest): Shown | Promise<Shown>;
}

export function mutationEndpoint<
  S extends z.ZodObject,
  R,
  Shown,
  B extends z.ZodRawShape = Record<never, never>,
>({ mutation, beside, before, show, ...rest }: Definition<S, R, B, Shown>): Endpoint {
  const { input: schema, needs } = mutation;
  return endpoint({
    ...rest,
    needs,
    input: (beside ? schema.safeExtend(beside as z.ZodRawShape) : schema) as z.ZodObject,
    async run(request: RestRequest, given) {
      await before?.(request, given as Parameters<typeof before>[1]);
      return show(await mutation(request.call, membersOf(schema, given)), request);
    },
  });
}

/** For a response without a body. */
export function noBody(): void {}

function membersOf<S extends z.ZodObject>({ shape }: S, given: object): z.output<S> {
  const members = Object.entries(given).filter(([name]) => Object.hasOwn(shape, name));
  return Object.fromEntries(members) as z.output<S>;
}
