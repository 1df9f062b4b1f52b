/** The schema for sets of field names, and the check of a name. */
import { z } from 'zod';

/** The permitted forms of names. Each pattern takes linear time, whatever the name. */
const SHAPES = {
  /** Any name. */
  any: /^/,
  /** Letters, digits and underscores, not starting with a digit. */
  identifier: /^[A-Za-z_]\w*$/,
  /** Identifiers separated by dots. */
  path: /^[A-Za-z_]\w*(\.\w+)*$/,
  /** A path that starts with a lower-case letter. */
  lowerCasePath: /^[a-z]\w*(\.\w+)*$/,
  /** Upper-case letters, digits and underscores. */
  upperCase: /^[A-Z0-9_]+$/,
  digits: /^\d+$/,
  /** 40 hexadecimal digits. */
  hash: /^[0-9a-f]{40}$/,
  /** 1 to 255 characters without braces and backslashes. */
  withoutBraces: /^[^{}\\]{1,255}$/,
} as const satisfies Record<string, RegExp>;
type Shape = keyof typeof SHAPES;

const names = z.array(z.string().min(1).max(256)).max(200);

/** Creates the schema of a set of names: the listed ones, or all names with the prefix and the shape. */
function createNameRule(defaultShape: Shape) {
  return z.strictObject({
    only: names
      .min(1)
      .optional()
      .describe('The only names of the set, which the other members may still exclude.'),
    prefix: z.string().max(64).default(''),
    except: names.default([]).describe('Names that are not in the set.'),
    shape: z.enum(Object.keys(SHAPES) as Shape[]).default(defaultShape),
  });
}

export const nameRule = createNameRule('any');
/** Names in conditions of a search. By default they contain no character that could end a condition. */
export const searchNameRule = createNameRule('path').prefault({});
type NameRule = z.output<typeof nameRule>;

export function matchesName({ only, prefix, except, shape }: NameRule, name: string): boolean {
  return (
    (only === undefined || only.includes(name)) &&
    name.startsWith(prefix) &&
    !except.includes(name) &&
    SHAPES[shape].test(name)
  );
}
