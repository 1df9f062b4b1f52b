import { z } from 'zod';

/** The choices for one object in the reference API's form, in which objects are members by name. */
export interface ObjectForm<Wire, Input, Choice> {
  /** The members in requests, in which all may be omitted. */
  request: z.ZodRawShape;
  /** The members in responses. */
  response: z.ZodRawShape;
  /** Returns the domain's input. */
  parse(wire: Wire): Omit<Input, 'objectName'>;
  show(choice: Choice): Wire;
  /** Maps a subpath inside the domain's input, like `.fieldMappings[0]`, to the wire form. */
  locate(wire: Wire, subpath: string): string;
}

export const boundedString = z.string().min(1).max(256);
