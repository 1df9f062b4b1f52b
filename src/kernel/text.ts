/**
 * Texts about members of an input. A text stays a list of parts until a surface prints it, so each surface names members
 * and values as its callers do, and never edits a sentence.
 */

/** The names and indexes that lead to a member of a function's input. Empty for the input itself. */
export type Path = readonly PropertyKey[];

/** Returns where another input has the member that a function's input has at `path`. */
export type PathMove = (path: Path) => Path;

type TextPart = string | MemberName | EnumValue;

/** A member of an input. `of` names the input in a text that is printed apart from a call with this input. */
interface MemberName {
  readonly member: Path;
  readonly of?: string | undefined;
}

/** The name of an enum's value. `of` names the enum, if it is known. */
interface EnumValue {
  readonly enumValue: string;
  readonly of?: string | undefined;
}

/** A sentence or its predicate. A text without members and values of enums may be a string. */
export type Text = string | readonly TextPart[];

/** The part of a request that has a member, and the member's name there. */
export interface MemberLocation {
  in: 'path' | 'query' | 'header' | 'body';
  name: string;
}

/** How the callers of a surface write members and values of an input. */
export interface Spelling {
  /** `inputName` names the input that has the path. Undefined for the input of the call. */
  locate(path: Path, inputName?: string): MemberLocation;
  /** Returns the caller's word for the name of an enum's value. `enumName` may be unknown. */
  toWord(name: string, enumName: string | undefined): string;
  /** True if issues also have their details in parts, because the client may show labels in place of names. */
  showsParts?: boolean;
  /** Returns the value as the caller sent it. Default: the value. */
  showValue?(value: unknown, location: MemberLocation): unknown;
}

/** Spells members by their paths in the function's input, and values of enums by their names. */
export const DEFAULT_SPELLING: Spelling = {
  locate: (path) => ({ in: 'body', name: formatPath(path) || 'input' }),
  toWord: (name) => name,
};

/** Creates a text: text`must be after ${member('sinceTime')}.` */
export function text(
  strings: TemplateStringsArray,
  ...parts: readonly (Text | TextPart | number)[]
): Text {
  return joinTexts(
    strings.flatMap((string, index) => {
      const part = parts[index];
      if (part === undefined) return [string];
      return [string, typeof part === 'number' ? String(part) : part];
    }),
  );
}

/** Names a member of the function's input in a text. */
export function member(...path: PropertyKey[]): TextPart {
  return { member: path };
}

/** Names the input whose members a text names, so that the text can be stored and printed later. */
export function nameInput(content: Text, inputName: string | undefined): Text {
  if (typeof content === 'string' || inputName === undefined) return content;
  return content.map((part) =>
    typeof part === 'object' && 'member' in part ? { ...part, of: part.of ?? inputName } : part,
  );
}

/** Names a value of an enum in a text. */
export function enumValue(name: string, enumName?: string): TextPart {
  return { enumValue: name, ...(enumName !== undefined && { of: enumName }) };
}

/** Returns the enum of the first value of an enum that a text names. */
export function findEnumName(content: Text): string | undefined {
  const values = typeof content === 'string' ? [] : content.filter((part) => isEnumValue(part));
  return values[0]?.of;
}

function isEnumValue(part: TextPart): part is EnumValue {
  return typeof part === 'object' && 'enumValue' in part;
}

/** Joins texts: `joinTexts(names.map(enumValue), ' or ')`. */
export function joinTexts(texts: readonly (Text | TextPart)[], separator = ''): Text {
  const parts = texts.flatMap((part, index): TextPart[] => [
    ...(index > 0 && separator !== '' ? [separator] : []),
    ...(isText(part) && typeof part !== 'string' ? part : [part as TextPart]),
  ]);
  return parts.every((part) => typeof part === 'string') ? parts.join('') : parts;
}

export function isText(value: Text | TextPart): value is Text {
  return typeof value === 'string' || Array.isArray(value);
}

export function printText(content: Text, spelling: Spelling = DEFAULT_SPELLING): string {
  return printParts(content, spelling)
    .map((part) => (typeof part === 'string' ? part : part.member))
    .join('');
}

/** A part of a printed text: words, or the name of a member as the surface writes it. */
export type PrintedPart = string | { member: string };

export function printParts(content: Text, { locate, toWord }: Spelling): PrintedPart[] {
  if (typeof content === 'string') return [content];
  return content.map((part) => {
    if (typeof part === 'string') return part;
    return isEnumValue(part)
      ? toWord(part.enumValue, part.of)
      : { member: locate(part.member, part.of).name };
  });
}

/** Returns a text whose members are at other paths. Members of an input that the text names keep their paths. */
export function moveMembers(content: Text, move: PathMove): Text {
  if (typeof content === 'string') return content;
  return content.map((part) =>
    typeof part === 'object' && 'member' in part && part.of === undefined
      ? { ...part, member: move(part.member) }
      : part,
  );
}

/** Returns the value at a path. Undefined if there is none. */
export function findValueAt(input: unknown, path: Path): unknown {
  let value = input;
  for (const key of path) {
    value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key];
  }
  return value;
}

/** Formats a path like `read.objects[0].schedule`. */
export function formatPath(path: Path): string {
  let name = '';
  for (const key of path) {
    if (typeof key === 'number') name += `[${key}]`;
    else name += name === '' ? formatKey(key) : `.${formatKey(key)}`;
  }
  return name;
}

/** Quotes a key with control characters, such as line breaks, which could look like other text. */
function formatKey(key: PropertyKey): string {
  const name = String(key);
  return /\p{Cc}/u.test(name) ? JSON.stringify(name) : name;
}
