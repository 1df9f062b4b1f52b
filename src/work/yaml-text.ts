/**
 * Parses YAML, and JSON as a part of it, from any caller: its size, nesting and aliases are limited, and the time grows with
 * the length of the text.
 */
import {
  Composer,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
} from 'yaml';

/** The maximum number of levels of nested collections. A manifest needs 10, and the parser recurses for each level. */
const NESTING_MAX = 32;
/** The maximum number of lists, maps, members and items. The main thread receives and validates each of them. */
const VALUES_MAX = 60_000;
/** Limited because resolving an alias searches the whole text, and aliases of aliases grow exponentially. */
const ALIASES_MAX = 100;

/** A position in a text. Lines and columns begin at 1. */
export interface TextPosition {
  line: number;
  column: number;
}

interface YamlFault {
  /** A sentence without its subject and its period. */
  problem: string;
  /** The parser's message about the syntax. */
  reason?: string;
  offset?: number | undefined;
}

export type ParsedYaml = { lines: LineCounter } & (
  | { document: Document; value: unknown }
  | { faults: [YamlFault, ...YamlFault[]] }
);

const TOO_DEEP = `is nested deeper than ${NESTING_MAX} levels`;

/** Returns the value of the text, or its faults, at least one. */
export function parseYaml(text: string, lengthMax: number): ParsedYaml {
  const lines = new LineCounter();
  const fail = (...faults: [YamlFault, ...YamlFault[]]): ParsedYaml => ({ lines, faults });
  if (text.length > lengthMax) {
    return fail({ problem: `must have at most ${lengthMax} characters` });
  }
  try {
    const document = parseOneDocument(text, lines);
    if (!document) return fail({ problem: 'must be one YAML document' });
    const [firstError, ...otherErrors] = document.errors.map(({ message, pos }) => ({
      problem: 'is not YAML',
      reason: message,
      offset: pos[0],
    }));
    if (firstError) return fail(firstError, ...otherErrors);
    const ruleFault = findRuleFault(document.contents);
    if (ruleFault) return fail(ruleFault);
    const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
    const knownDepths = new Map<object, number>();
    if (computeNestingDepth(value, knownDepths) > NESTING_MAX) {
      return fail({ problem: `${TOO_DEEP} where its aliases are resolved` });
    }
    if (countValues(knownDepths.keys()) > VALUES_MAX) {
      return fail({ problem: `must have at most ${VALUES_MAX} members and items` });
    }
    return { lines, document, value };
  } catch (error) {
    if (error instanceof NestingError) return fail({ problem: TOO_DEEP, offset: error.offset });
    return fail({ problem: 'is not YAML' });
  }
}

/**
 * Returns the position of the value at the path. A path that leads to no value has the position of the deepest value on the
 * path.
 */
export function locateValue(parsed: ParsedYaml, path: readonly PropertyKey[]): TextPosition {
  const offset = 'document' in parsed ? getOffset(parsed.document, path) : 0;
  return locateOffset(parsed, offset);
}

export function locateOffset({ lines }: ParsedYaml, offset = 0): TextPosition {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

/** Formats a fault as a sentence without a subject. */
export function formatFault({ problem, reason }: YamlFault): string {
  return reason === undefined ? `${problem}.` : `${problem}: ${reason}`;
}

/** Returns the offset of the value at the path. For a member of a map, this is the offset of its key. */
function getOffset(document: Document, path: readonly PropertyKey[]): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? 0;
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && item.key.value === key);
      if (!pair || !isScalar(pair.key)) break;
      offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      const item = node.items[Number(key)] as { range?: [number, number, number] } | undefined;
      if (!item) break;
      offset = item.range?.[0] ?? offset;
      node = item;
    } else break;
  }
  return offset;
}

class NestingError extends Error {
  readonly offset: number;

  constructor(offset: number) {
    super(TOO_DEEP);
    this.offset = offset;
  }
}

/** Parses the text. Returns null unless it contains exactly one document. */
function parseOneDocument(text: string, lines: LineCounter): Document | null {
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
  for (const composed of composer.compose(parseTokens(text, lines), true, text.length)) {
    if (document) return null;
    document = composed;
  }
  return document;
}

const COLLECTIONS = ['block-map', 'block-seq', 'flow-collection'];
const isOpenCollection = ({ type }: { type: string }) => COLLECTIONS.includes(type);

/** Throws at the first collection that is nested too deeply, before any code recurses into it. */
function* parseTokens(text: string, lines: LineCounter) {
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

/** Returns the number of nested levels. Aliases share their value, so each value is visited once. */
function computeNestingDepth(value: unknown, knownDepths: Map<object, number>): number {
  if (typeof value !== 'object' || value === null) return 0;
  const knownDepth = knownDepths.get(value);
  if (knownDepth !== undefined) return knownDepth;
  let depth = 1;
  for (const member of Object.values(value)) {
    depth = Math.max(depth, 1 + computeNestingDepth(member, knownDepths));
  }
  knownDepths.set(value, depth);
  return depth;
}

/** Counts the lists and maps with their members and items. Aliases share their value, which counts once. */
function countValues(containers: Iterable<object>): number {
  let count = 0;
  for (const container of containers) count += 1 + Object.keys(container).length;
  return count;
}

/** Returns the first duplicate key of a map, or the first alias beyond the limit. */
function findRuleFault(root: unknown): YamlFault | null {
  let aliasCount = 0;
  const remainingNodes = [root];
  while (remainingNodes.length > 0) {
    const node = remainingNodes.pop();
    if (isAlias(node)) {
      aliasCount += 1;
      if (aliasCount > ALIASES_MAX) {
        return { problem: `has more than ${ALIASES_MAX} aliases`, offset: node.range?.[0] };
      }
    } else if (isPair(node)) {
      remainingNodes.push(node.value);
    } else if (isCollection(node)) {
      const duplicateKey = isMap(node) ? findDuplicateKey(node.items.map(({ key }) => key)) : null;
      if (duplicateKey) return duplicateKey;
      for (const item of node.items.toReversed()) remainingNodes.push(item);
    }
  }
  return null;
}

function findDuplicateKey(keys: unknown[]): YamlFault | null {
  const earlierKeys = new Set<unknown>();
  for (const key of keys) {
    if (!isScalar(key)) continue;
    if (earlierKeys.has(key.value)) {
      return { problem: 'has a key twice in one map', offset: key.range?.[0] };
    }
    earlierKeys.add(key.value);
  }
  return null;
}
