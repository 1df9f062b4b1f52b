import type { z } from 'zod';
import type { Path } from '../../../../kernel/text.ts';

/**
 * Converts the config of one object between REST, where objects are members keyed by name, and the domain, where they
 * are a list.
 */
export interface ObjectForm<Wire, Input, Choice> {
  /** The request members, all optional. */
  request: z.ZodRawShape;
  /** The response members. */
  response: z.ZodRawShape;
  /** Converts a request to the domain's input. */
  decode(wire: Wire): Omit<Input, 'objectName'>;
  /** Converts the domain's choice to a response. */
  encode(choice: Choice): Wire;
  /** Maps a path inside the domain's input, like `['fieldMappings', 0]`, to the wire form. */
  locate(wire: Wire, path: Path): Path;
}
