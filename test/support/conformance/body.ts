/** Describes the body of a request and its fields for conformance rules. */
import type { RestResponse } from '../rest/rest-client.ts';
import type { Fixture } from './fixture.ts';
import type { TypeName } from './value-types.ts';

export type Json = Record<string, unknown>;

export interface BodyField {
  type: TypeName;
  /** Null if the reference API does not say whether the field is required. */
  isRequired: boolean | null;
  /** All values of an enum. */
  values?: string[];
  /** True if GraphQL has a different rule for the field. */
  isRestOnly?: boolean;
  /** Returns a body with the field. Default: the result of `createCompleteBody`. */
  createWith?(fixture: Fixture): Json | Promise<Json>;
  /** Returns a body for the case that the field is absent. Default: the body without the field. */
  createWithout?(fixture: Fixture): Json | Promise<Json>;
}

type Extra = Omit<BodyField, 'type' | 'isRequired'>;
const field =
  (isRequired: boolean | null) =>
  (type: TypeName, extra: Extra = {}): BodyField => ({ type, isRequired, ...extra });
export const requiredField = field(true);
export const optionalField = field(false);
export const unspecifiedField = field(null);

export interface Body {
  /** The body in words, such as `A new API key`. */
  name: string;
  send(fixture: Fixture, body: Json): Promise<RestResponse>;
  mutation: string;
  /** True if a builder calls the mutation. Default: the API key calls it. */
  usesBuilder?: boolean;
  /** Members of the mutation's input that are not in the body. Default: the project. */
  extraInput?(fixture: Fixture): Json | Promise<Json>;
  /** Returns a body with all fields and an unused name. */
  createCompleteBody(fixture: Fixture): Json | Promise<Json>;
  fields: Record<string, BodyField>;
}
