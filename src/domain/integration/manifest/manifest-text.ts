/** The YAML of a manifest. Any caller may send one, so that its size, nesting and aliases are bounded. */
import {
  Composer,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  Lexer,
  LineCounter,
  Parser,
} from 'yaml';

/** Parsing that much takes up to 0.6 s. A manifest of a hundred objects with their fields has a quarter of it. */
export const MANIFEST_LENGTH_MAX = 128 * 1024;
/** Collections inside each other. A manifest needs 10; the parser recurses for each of them. */
const NESTING_MAX = 32;
/** Resolving an alias searches the whole text, and aliases of aliases grow exponentially. */
const ALIASES_MAX = 100;

export type ReadText = { value: unknown } | { problem: string };

/** `problem` is a sentence without its subject. */
export function readManifestText(text: string): ReadText {
  if (text.length > MANIFEST_LENGTH_MAX) {
    return { problem: `must have at most ${MANIFEST_LENGTH_MAX} characters.` };
  }
  const lines = new LineCounter();
  const at = (offset: number | undefined) =>
    offset === undefined ? '.' : `: see line ${lines.linePos(offset).line}.`;
  try {
    const document = compose(text, lines);
    if (!document) return { problem: 'must be one YAML document.' };
    const [wrong] = document.errors;
    if (wrong) return { problem: `is not YAML${at(wrong.pos[0])}` };
    const found = findExcess(document.contents);
    if (found) return { problem: `${found.what}${at(found.offset)}` };
    const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
    const isDeep = heightOf(value, new Map()) > NESTING_MAX;
    return isDeep ? { problem: `${TOO_DEEP} where its aliases are resolved.` } : { value };
  } catch (error) {
    if (error instanceof NestingError) return { problem: `${TOO_DEEP}${at(error.offset)}` };
    return { problem: 'is not YAML.' };
  }
}

const TOO_DEEP = `is nested deeper than ${NESTING_MAX} levels`;

class NestingError extends Error {
  readonly offset: number;

  constructor(offset: number) {
    super(TOO_DEEP);
    this.offset = offset;
  }
}

/** Null unless the text has exactly one document. */
function compose(text: string, lines: LineCounter): Document | null {
  const composer = new Composer({
    lineCounter: lines,
    // The package's own check for equal keys, its merges and its keys that are no text take quadratic time.
    uniqueKeys: false,
    schema: 'core',
    merge: false,
    stringKeys: true,
    prettyErrors: false,
  });
  let document: Document | null = null;
  for (const composed of composer.compose(tokensOf(text, lines), true, text.length)) {
    if (document) return null;
    document = composed;
  }
  return document;
}

/** Stops at the first collection that is nested too deep, before anything recurses into it. */
function* tokensOf(text: string, lines: LineCounter) {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    const { stack, offset } = parser;
    if (stack.length > NESTING_MAX && stack.filter(isOpenCollection).length > NESTING_MAX) {
      throw new NestingError(offset);
    }
  }
  yield* parser.end();
}

const COLLECTIONS = ['block-map', 'block-seq', 'flow-collection'];
const isOpenCollection = ({ type }: { type: string }) => COLLECTIONS.includes(type);

/** Collections inside each other. Aliases share what they stand for, so that each value is visited once. */
function heightOf(value: unknown, known: Map<object, number>): number {
  if (typeof value !== 'object' || value === null) return 0;
  const before = known.get(value);
  if (before !== undefined) return before;
  let highest = 0;
  for (const inner of Object.values(value)) highest = Math.max(highest, heightOf(inner, known));
  known.set(value, highest + 1);
  return highest + 1;
}

/** Returns the first key that a map has twice, or the first alias beyond the limit. */
function findExcess(root: unknown): { what: string; offset: number | undefined } | null {
  let aliases = 0;
  const open = [root];
  while (open.length > 0) {
    const node = open.pop();
    if (isAlias(node)) {
      aliases += 1;
      if (aliases > ALIASES_MAX) {
        return { what: `has more than ${ALIASES_MAX} aliases`, offset: node.range?.[0] };
      }
    } else if (isPair(node)) {
      open.push(node.value);
    } else if (isCollection(node)) {
      const twice = isMap(node) ? secondOf(node.items.map(({ key }) => key)) : null;
      if (twice) return twice;
      for (const item of node.items.toReversed()) open.push(item);
    }
  }
  return null;
}

function secondOf(keys: unknown[]) {
  const known = new Set<unknown>();
  for (const key of keys) {
    if (!isScalar(key)) continue;
    if (known.has(key.value)) {
      return { what: 'has a key twice in one map', offset: key.range?.[0] };
    }
    known.add(key.value);
  }
  return null;
}
