/** The YAML of a manifest: texts of strangers, which must not keep the process busy. */
import { isAlias, isCollection, isMap, isPair, isScalar, LineCounter, parseDocument } from 'yaml';

/** Reading as much takes a second at worst; a manifest of a hundred objects with their fields has a quarter of it. */
export const MANIFEST_LENGTH_MAX = 128 * 1024;
/** An alias is looked up in the whole text, and one that stands for more is a bomb: no manifest. */
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
    const document = parseDocument(text, {
      lineCounter: lines,
      // The package's own look for equal keys, its merges and its keys that are no text take their number squared.
      uniqueKeys: false,
      schema: 'core',
      merge: false,
      stringKeys: true,
      prettyErrors: false,
    });
    const [wrong] = document.errors;
    if (wrong) return { problem: `is not YAML${at(wrong.pos[0])}` };
    const found = findExcess(document.contents);
    if (found) return { problem: `${found.what}${at(found.offset)}` };
    return { value: document.toJS({ maxAliasCount: ALIASES_MAX }) };
  } catch {
    return { problem: 'is not YAML.' };
  }
}

/** The first key that stands twice in a map, or the first alias that is too many. */
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
