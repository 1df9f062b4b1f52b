/** Describes a resource and its fields for conformance rules. */
import type { Fixture } from './fixture.ts';
import type { TypeName } from './value-types.ts';

export interface FieldRule {
  type: TypeName;
  isRequired: boolean;
  /**
   * The field's path in GraphQL, from the resource's type, or from another type if it begins with a type's
   * name. Null if GraphQL lacks the field. Default: the field's name.
   */
  graphql?: string | null;
  /** All values of an enum. */
  values?: string[];
  /** True if the field is declared but no request of a client can set it. */
  isUnset?: boolean;
}

type Extra = Omit<FieldRule, 'type' | 'isRequired'>;
export const requiredMember = (type: TypeName, extra: Extra = {}): FieldRule => ({
  type,
  isRequired: true,
  ...extra,
});
export const optionalMember = (type: TypeName, extra: Extra = {}): FieldRule => ({
  type,
  isRequired: false,
  ...extra,
});

export interface Resource {
  /** The resource in words, such as `An API key`. */
  name: string;
  /** The component in the OpenAPI document. `type` is the type in the GraphQL schema. */
  schema: string;
  type: string;
  load(fixture: Fixture): Promise<unknown>;
  /** Queries the selection over GraphQL. Default: by `node(id:)`. */
  queryGraphql?(fixture: Fixture, selection: string): Promise<unknown>;
  fields: Record<string, FieldRule>;
}
