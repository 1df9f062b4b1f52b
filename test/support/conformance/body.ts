/** The body of a request and its fields, as rules name them. */
import type { RestResult } from '../rest/rest-client.ts';
import type { Scene } from './scene.ts';
import type { TypeName } from './value-types.ts';

export type Json = Record<string, unknown>;

export interface BodyField {
  is: TypeName;
  /** Null if the platform does not say. */
  isRequired: boolean | null;
  /** All words that it can be. */
  oneOf?: string[];
  /** True if GraphQL has another rule for it. */
  isRestOnly?: boolean;
  /** A body that has it. Default: the whole one. */
  body?(scene: Scene): Json | Promise<Json>;
  /** The body if it is left out. Default: the same without it. */
  instead?(scene: Scene): Json | Promise<Json>;
}

type Extra = Omit<BodyField, 'is' | 'isRequired'>;
const field =
  (isRequired: boolean | null) =>
  (is: TypeName, extra: Extra = {}): BodyField => ({ is, isRequired, ...extra });
export const needed = field(true);
export const optional = field(false);
export const typed = field(null);

export interface Body {
  /** In words, like `A new API key`. */
  name: string;
  send(scene: Scene, body: Json): Promise<RestResult>;
  mutation: string;
  /** Whose GraphQL it is. Default: the key's. */
  isBuilders?: boolean;
  /** What the mutation takes beside the body. Default: the project. */
  beside?(scene: Scene): Json | Promise<Json>;
  /** With all of its fields, and a name that is free. */
  whole(scene: Scene): Json | Promise<Json>;
  fields: Record<string, BodyField>;
}
