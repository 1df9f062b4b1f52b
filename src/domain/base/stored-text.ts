/** Stores texts as parts. Each surface prints them with its own names when it shows the row. */
import { z } from 'zod';
import { textParts } from '../../kernel/problem-schema.ts';
import {
  DEFAULT_SPELLING,
  joinTexts,
  printParts,
  printText,
  type Spelling,
  type Text,
} from '../../kernel/text.ts';
import { type Computed, computed, type Value } from './resource.ts';
import { toStorableJson, toStorableString } from './storable-json.ts';

/** Begins a column of the type text that has a text in parts, as JSON. Other columns are sentences. */
const PARTS_MARK = '\u001e';

/** The part of a call that knows how its surface writes names. Without a spelling, names are the domain's. */
interface Surface {
  spelling?: Spelling | undefined;
}

/** Returns a text as a value for a column of the type text. Equal texts have equal values. */
export function toTextColumn(content: Text): string {
  const isSentence = typeof content === 'string' && !content.startsWith(PARTS_MARK);
  if (isSentence) return toStorableString(content);
  return `${PARTS_MARK}${JSON.stringify(toStorableJson(content))}`;
}

/** Reads a column that `toTextColumn` has written. Other columns are sentences, such as a person's note. */
export function readTextColumn(column: string): Text {
  if (!column.startsWith(PARTS_MARK)) return column;
  try {
    return storedParts.parse(JSON.parse(column.slice(PARTS_MARK.length)));
  } catch {
    return column;
  }
}

const storedParts = z.union([
  z.string(),
  z.array(
    z.union([
      z.string(),
      z.strictObject({
        member: z.array(z.union([z.string(), z.number()])),
        of: z.string().optional(),
      }),
      z.strictObject({ enumValue: z.string(), of: z.string().optional() }),
    ]),
  ),
]);

/** Shortens a text whose plain form is longer than `lengthMax`. Parts that fit stay parts. */
export function shortenText(content: Text, lengthMax: number): Text {
  if (printText(content).length <= lengthMax) return content;
  let room = lengthMax - 1;
  const parts: Text[] = [];
  for (const part of typeof content === 'string' ? [content] : content) {
    const { length } = printText([part]);
    if (length <= room) parts.push([part]);
    else if (typeof part === 'string') parts.push(part.slice(0, room));
    room -= length;
    if (room <= 0) break;
  }
  return joinTexts([...parts, '…']);
}

/** Prints a text in the names of the surface. */
export function printFor({ spelling }: Surface, content: Text): string {
  return printText(content, spelling);
}

export function printTexts(surface: Surface, contents: readonly Text[]): string[] {
  return contents.map((content) => printFor(surface, content));
}

/** Prints a column that `toTextColumn` has written in the names of the surface. */
export function printColumn(surface: Surface, column: string): string {
  return printFor(surface, readTextColumn(column));
}

/** Declares a field that shows a text in a JSON column. */
export function printedText<N extends string, T extends z.ZodType<string>>(
  member: N,
  type: T,
): T & Computed<{ [M in N]: Text }> {
  return computed(
    type,
    (source: { [M in N]: Text }, call: Surface) => printFor(call, source[member]) as Value<T>,
  );
}

/**
 * Declares a field that shows a text in a JSON column in parts, so that clients can print their own names of members, such
 * as labels and options of a command.
 */
export function printedParts<N extends string>(member: N, description: string) {
  const parts = textParts.describe(description);
  return computed(parts, (source: { [M in N]: Text }, { spelling = DEFAULT_SPELLING }: Surface) =>
    printParts(source[member], spelling),
  );
}

/** Declares a field that shows a column of the type text. */
export function printedColumn<N extends string, T extends z.ZodType<string | null>>(
  member: N,
  type: T,
): T & Computed<{ [M in N]: string | null }> {
  return computed(type, (source: { [M in N]: string | null }, call: Surface) => {
    const column = source[member];
    return (column === null ? null : printColumn(call, column)) as Value<T>;
  });
}
