/** A resource and its fields, as rules name them. */
import type { Scene } from './scene.ts';
import type { TypeName } from './value-types.ts';

export interface FieldRule {
  is: TypeName;
  isRequired: boolean;
  /** Where GraphQL has it: a path from the type, or from another if it begins with its name. Default: the field. */
  graphql?: string | null;
  /** All that it can be. */
  oneOf?: string[];
  /** It is declared, and nothing that callers do gives it a value. */
  isUnset?: boolean;
}

type Extra = Omit<FieldRule, 'is' | 'isRequired'>;
export const always = (is: TypeName, extra: Extra = {}): FieldRule => ({
  is,
  isRequired: true,
  ...extra,
});
export const maybe = (is: TypeName, extra: Extra = {}): FieldRule => ({
  is,
  isRequired: false,
  ...extra,
});

export interface Resource {
  /** In words, like `An API key`. */
  name: string;
  /** Its names in the document and in the GraphQL schema. */
  schema: string;
  type: string;
  shown(scene: Scene): Promise<unknown>;
  /** What GraphQL shows of the selection; by the id if it is left out. */
  shownByGraphql?(scene: Scene, selection: string): Promise<unknown>;
  fields: Record<string, FieldRule>;
}
