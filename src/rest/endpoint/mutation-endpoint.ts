/** Defines the endpoint of a declared mutation. The mutation determines its input, its need and its description. */
import type { z } from 'zod';
import type { Mutation } from '../../domain/declared-mutation.ts';
import {
  type DeclaredLocations,
  describeEndpoint,
  type Endpoint,
  type EndpointBase,
  type EndpointDefinition,
  type EndpointResponse,
  endpoint,
  type RestRequest,
} from './endpoint.ts';
import type { Location } from './locations.ts';

interface MutationDefinition<S extends z.ZodObject, R, B extends z.ZodRawShape>
  extends EndpointBase {
  mutation: Mutation<S, R>;
  locations?: DeclaredLocations<S> & { [member in keyof B & string]?: Location };
  mask?: string;
  /** Members of the request that are not part of the mutation's input. */
  extraInput?: B;
  /** Runs before the mutation. Throws to refuse the request, for example because of the extra members. */
  precheck?(request: RestRequest, input: z.output<S> & z.output<z.ZodObject<B>>): Promise<unknown>;
}

interface Definition<S extends z.ZodObject, R, B extends z.ZodRawShape>
  extends MutationDefinition<S, R, B>,
    EndpointResponse {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  status: 200 | 201 | 204;
  /** Returns the value of `resource`. Default: the result of the mutation. */
  show?(result: R, request: RestRequest): unknown;
}

type NoShape = Record<never, never>;

export function mutationEndpoint<S extends z.ZodObject, R, B extends z.ZodRawShape = NoShape>(
  definition: Definition<S, R, B>,
): Endpoint {
  const { mutation, extraInput, precheck, show } = definition;
  const { input: schema, needs } = mutation;
  return endpoint({
    ...definition,
    ...describeEndpoint(mutation, definition),
    needs,
    input: extraInput ? schema.safeExtend(extraInput as z.ZodRawShape) : schema,
    async run(request: RestRequest, input: object) {
      await precheck?.(request, input as Parameters<typeof precheck>[1]);
      const result = await mutation(request.call, pickMembers(schema, input));
      return show ? show(result, request) : result;
    },
  } as EndpointDefinition<z.ZodObject>);
}

/** Defines a DELETE endpoint, whose response has no body. */
export function deleteEndpoint<S extends z.ZodObject, R, B extends z.ZodRawShape = NoShape>(
  definition: MutationDefinition<S, R, B>,
): Endpoint {
  return mutationEndpoint({ ...definition, method: 'DELETE', status: 204, resource: null });
}

function pickMembers<S extends z.ZodObject>({ shape }: S, input: object): z.output<S> {
  const members = Object.entries(input).filter(([name]) => Object.hasOwn(shape, name));
  return Object.fromEntries(members) as z.output<S>;
}
