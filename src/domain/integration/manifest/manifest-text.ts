/** Parses the YAML of a manifest. Any caller may send one, so its size, nesting and aliases are limited. */
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

/**
 * Parsing a text of this length takes up to 0.6 s. A manifest of a hundred objects with their fields has a quarter of
 * it.
 */
export const MANIFEST_LENGTH_MAX = 128 * 1024;
/** The most levels of nested collections. A manifest needs 10, and the parser recurses for each level. */
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
    const excess = findExcess(document.contents);
    if (excess) return { problem: `${excess.what}${at(excess.offset)}` };
    const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
    const isDeep = nestingDepth(value, new Map()) > NESTING_MAX;
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

/** Parses the text. Null unless it contains exactly one document. */
function compose(text: string, lines: LineCounter): Document | null {
  const composer = new Composer({
    lineCounter: lines,
    // The package's own check for equal keys, its merges and its keys other than text take quadratic time.
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

/** Throws at the first collection that is nested too deeply, before any code recurses into it. */
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

/** The number of nested levels. Aliases share their value, so each value is visited once. */
function nestingDepth(value: unknown, seen: Map<object, number>): number {
  if (typeof value !== 'object' || value === null) return 0;
  const before = seen.get(value);
  if (before !== undefined) return before;
  let highest = 0;
  for (const inner of Object.values(value)) highest = Math.max(highest, nestingDepth(inner, seen));
  seen.set(value, highest + 1);
  return highest + 1;
}

/** Returns the first duplicate key of a map, or the first alias beyond the limit. */
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
      const twice = isMap(node) ? findDuplicateKey(node.items.map(({ key }) => key)) : null;
      if (twice) return twice;
      for (const item of node.items.toReversed()) open.push(item);
    }
  }
  return null;
}

function findDuplicateKey(keys: unknown[]) {
  const seen = new Set<unknown>();
  for (const key of keys) {
    if (!isScalar(key)) continue;
    if (seen.has(key.value)) {
      return { what: 'has a key twice in one map', offset: key.range?.[0] };
    }
    seen.add(key.value);
  }
  return null;
}
