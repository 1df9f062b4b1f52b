/** Endpoints of declared mutations: input, need and what is called come from the declaration. */
import { z } from 'zod';
import type { Mutation } from '../../domain/declared-mutation.ts';
import { issuesOf } from '../../domain/issues.ts';
import { OpenedInput } from '../../domain/opened-input.ts';
import { authorize } from '../../domain/viewer/needs.ts';
import {
  type Described,
  derived,
  type Endpoint,
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
  /** What the request has beside the mutation's input. */
  beside?: B;
  /** Refuses what the request has beside the mutation's input, for callers who may do what the mutation needs. */
  before?(request: RestRequest, input: Beside<S, B>): Promise<unknown>;
  show(result: R, request: RestRequest): Shown | Promise<Shown>;
}

/** Both as they were given; the mutation's own part may still break its rules. */
type Beside<S extends z.ZodObject, B extends z.ZodRawShape> = z.input<S> & z.output<z.ZodObject<B>>;

export function mutationEndpoint<
  S extends z.ZodObject,
  R,
  Shown,
  B extends z.ZodRawShape = Record<never, never>,
>({ mutation, beside, before, show, ...rest }: Definition<S, R, B, Shown>): Endpoint {
  const { input: schema, needs } = mutation;
  const others = z.object(beside ?? {});
  return derived(
    {
      ...rest,
      needs,
      input: z.object({ ...schema.shape, ...others.shape }),
      async run(request: RestRequest, { opened, other }: Opened<S>) {
        if (before) {
          authorize(request.call.viewer, needs);
          await before(request, { ...opened.given, ...other } as Beside<S, B>);
        }
        return show(await mutation(request.call, opened), request);
      },
    },
    (given) => {
      const opened = new OpenedInput(schema, pick(given, schema));
      const { data, error } = others.safeParse(pick(given, others));
      const input = data && { opened, other: data };
      const issues = [...opened.issues, ...(error ? issuesOf(error, given) : [])];
      return { input, issues, isRefused: !opened.isWellFormed || !!error };
    },
  );
}

/** For an answer without a body. */
export function noBody(): void {}

interface Opened<S extends z.ZodObject> {
  opened: OpenedInput<S>;
  other: object;
}

function pick(given: Record<string, unknown>, { shape }: z.ZodObject): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(shape, name)));
}
