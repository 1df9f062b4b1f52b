/**
 * Masks secrets in texts of other servers, such as errors that repeat a request. A secret is found as it is and in the forms
 * in which servers repeat it: escaped for JSON or HTML, percent-encoded, in hex, and in base64 at any offset.
 */
import { MASK } from '../kernel/secrets.ts';

/** Shorter values are parts of words: with `s` masked, `responded` would become `re***ponded`. */
const SECRET_LENGTH_MIN = 8;
/** The beginning of a secret that may remain at the end of a text that was cut. */
const REMAINDER_LENGTH_MAX = 3;

interface MaskOptions {
  /** True if the text was cut, so that it may end with the beginning of a secret. */
  isCut?: boolean;
}

/** Returns the text with `***` in place of secrets. */
export type MaskText = (text: string, options?: MaskOptions) => string;

/** Returns a function that masks these secrets. */
export function createMask(secrets: Iterable<string>): MaskText {
  return new SecretMask(secrets).mask;
}

/** Lists the secrets in the value of a header: the value, and the parts of a token or a pair after a scheme. */
export function listHeaderSecrets(header: string): string[] {
  const [scheme = '', credential = ''] = header.split(' ');
  if (scheme.toLowerCase() !== 'basic') return [header, credential];
  const pair = Buffer.from(credential, 'base64').toString('utf8');
  const [user = ''] = pair.split(':');
  return [header, credential, user, ...listBasicSecrets(user, pair.slice(user.length + 1))];
}

/** Lists the secrets in the credentials of Basic authentication. Some providers take a key as the user name. */
export function listBasicSecrets(user: string, password: string): string[] {
  const isUserSecret = password.length < SECRET_LENGTH_MIN;
  return [password, `${user}:${password}`, ...(isUserSecret ? [user] : [])];
}

/** Masks a set of secrets that may grow, for example by refreshed tokens. */
export class SecretMask {
  readonly #secrets = new Set<string>();
  readonly #values: ReadonlySet<string>;
  /** Undefined until a text is masked, because most masks are never used. */
  #forms: FormIndex | undefined;

  /** `values` are not secret in themselves. They are masked too, but not searched in other forms. */
  constructor(secrets: Iterable<string> = [], values: Iterable<string> = []) {
    this.#values = new Set(values);
    this.add(secrets);
  }

  get secrets(): Iterable<string> {
    return this.#secrets;
  }

  /** Ignores empty secrets, because accounts may have optional inputs without a value. */
  add(secrets: Iterable<string>): void {
    for (const secret of secrets) {
      if (secret === '' || this.#secrets.has(secret)) continue;
      this.#secrets.add(secret);
      this.#forms = undefined;
    }
  }

  /** Masks secrets of at least `SECRET_LENGTH_MIN` characters. A shorter one is masked only if it is the whole text. */
  readonly mask: MaskText = (text, { isCut = false } = {}) => {
    if (this.#secrets.has(text) || this.#values.has(text)) return MASK;
    this.#forms ??= indexForms(listForms(this.#secrets, this.#values));
    const ranges = listRanges(text, this.#forms);
    if (isCut) ranges.push(...listRemainders(text, this.#forms));
    return ranges.length === 0 ? text : replaceRanges(text, ranges);
  };
}

interface Form {
  text: string;
  isBase64: boolean;
}

/** Lists the forms of all secrets and values that are long enough. */
function listForms(secrets: Iterable<string>, values: Iterable<string>): Form[] {
  const forms = new Map<string, Form>();
  for (const text of values) {
    if (text.length >= SECRET_LENGTH_MIN) forms.set(text, { text, isBase64: false });
  }
  for (const secret of secrets) {
    if (secret.length < SECRET_LENGTH_MIN) continue;
    for (const text of listTextForms(secret)) forms.set(text, { text, isBase64: false });
    for (const text of listBase64Forms(secret)) forms.set(text, { text, isBase64: true });
  }
  return [...forms.values()];
}

/** Header names arrive in lower case, so the secret is also searched in that form. */
function listTextForms(secret: string): string[] {
  const json = toJsonText(secret);
  const hex = Buffer.from(secret).toString('hex');
  const percentHex = hex.replace(/../g, '%$&');
  const percent = encodeURIComponent(secret.toWellFormed());
  const strictPercent = percent.replace(/[!'()*~]/g, toPercent);
  const formValue = new URLSearchParams({ '': secret }).toString().slice(1);
  const encoded = [percent, strictPercent, formValue, percentHex];
  return [
    ...[secret, secret.toLowerCase()],
    ...[json, escapeSlashes(json), toAscii(json), escapeSlashes(toAscii(json))],
    ...[toJsonText(json), toJsonText(escapeSlashes(json))],
    ...listHtmlForms(secret),
    ...encoded,
    ...encoded.map((text) => text.replace(/%../g, (code) => code.toLowerCase())),
    ...[percentHex.toUpperCase(), hex, hex.toUpperCase()],
  ];
}

function toJsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Escapes slashes, as PHP does in JSON. */
function escapeSlashes(text: string): string {
  return text.replaceAll('/', '\\/');
}

/** Escapes other characters than ASCII, as Python and PHP do in JSON. */
function toAscii(json: string): string {
  return json.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function toPercent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

const HTML_ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Servers write an apostrophe as it is or as one of two entities. */
function listHtmlForms(text: string): string[] {
  const html = text.replace(/[&<>"]/g, (character) => HTML_ENTITIES[character] ?? character);
  return [html, html.replaceAll("'", '&#39;'), html.replaceAll("'", '&#x27;')];
}

/** Shorter forms in base64 may be part of other words. */
const BASE64_LENGTH_MIN = 12;

/**
 * Lists digits of the secret for the three offsets at which it may begin. A long form lacks digits at both ends, so that it
 * is also found in a word that was cut there.
 */
function listBase64Forms(secret: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
    const digits = bytes.toString('base64').replace(/=+$/, '');
    // The digits at the ends also hold bits of neighboring bytes.
    const wholeForm = digits.slice([0, 2, 3][offset], bytes.length % 3 === 0 ? undefined : -1);
    const shortForm = digits.slice(offset === 0 ? 0 : 4, -4);
    const form = shortForm.length >= BASE64_LENGTH_MIN ? shortForm : wholeForm;
    const urlForm = form.replaceAll('+', '-').replaceAll('/', '_');
    return [form, urlForm, escapeSlashes(form), encodeURIComponent(form)];
  });
}

interface Range {
  start: number;
  end: number;
}

/** The length of the beginnings by which forms are found. No form is shorter. */
const KEY_LENGTH = SECRET_LENGTH_MIN;
/** The maximum number of forms with the same beginning that are compared with a text. */
const ALIKE_MAX = 8;

/** Forms by the hash of their beginnings. A request may contain thousands of values, so texts are searched in one pass. */
type FormIndex = Map<number, Form[]>;

function indexForms(forms: readonly Form[]): FormIndex {
  return Map.groupBy(forms, ({ text }) => {
    let hash = 0;
    for (let index = 0; index < KEY_LENGTH; index += 1) hash = addToHash(hash, text, index);
    return hash;
  });
}

const HASH_BASE = 0x01000193;
/** The factor of the first of KEY_LENGTH + 1 characters. */
const OLDEST_FACTOR = Array.from({ length: KEY_LENGTH }).reduce<number>(
  (factor) => Math.imul(factor, HASH_BASE),
  1,
);

/** Returns the hash of the KEY_LENGTH characters that end at this index, from the hash of those before it. */
function addToHash(hash: number, text: string, index: number): number {
  const oldest = index < KEY_LENGTH ? 0 : text.charCodeAt(index - KEY_LENGTH);
  return (
    (Math.imul(hash, HASH_BASE) + text.charCodeAt(index) - Math.imul(oldest, OLDEST_FACTOR)) | 0
  );
}

/** If more than ALIKE_MAX forms begin alike, the text is masked from their beginning to its end. */
function listRanges(text: string, formIndex: FormIndex): Range[] {
  const ranges: Range[] = [];
  let hash = 0;
  let wordEnd = 0;
  for (let end = 1; end <= text.length; end += 1) {
    hash = addToHash(hash, text, end - 1);
    const start = end - KEY_LENGTH;
    const forms = start < 0 ? [] : (formIndex.get(hash) ?? []);
    if (forms.length > ALIKE_MAX) return [...ranges, { start, end: text.length }];
    for (const { text: form, isBase64 } of forms) {
      if ((isBase64 && end <= wordEnd) || !text.startsWith(form, start)) continue;
      const range = { start, end: start + form.length };
      ranges.push(isBase64 ? extendToWord(text, range) : range);
      if (isBase64) wordEnd = ranges.at(-1)?.end ?? 0;
    }
  }
  return ranges;
}

const BASE64_DIGIT = /[\w+/-]/;
const BASE64_END = /[\w+/-]*={0,2}/y;

/** Returns the range of the whole word, because the digits around a form also hold bits of the secret. */
function extendToWord(text: string, { start, end }: Range): Range {
  let wordStart = start;
  while (wordStart > 0 && BASE64_DIGIT.test(text.charAt(wordStart - 1))) wordStart -= 1;
  BASE64_END.lastIndex = end;
  BASE64_END.exec(text);
  return { start: wordStart, end: BASE64_END.lastIndex };
}

/** Finds the beginnings of forms at the end of a text. */
function listRemainders(text: string, formIndex: FormIndex): Range[] {
  return [...formIndex.values()].flat().flatMap((form) => findRemainder(text, form) ?? []);
}

function findRemainder(text: string, { text: form, isBase64 }: Form): Range | null {
  const end = text.length;
  let length = Math.min(form.length - 1, end);
  while (length > REMAINDER_LENGTH_MAX && !text.endsWith(form.slice(0, length))) length -= 1;
  if (length <= REMAINDER_LENGTH_MAX) return null;
  const range = { start: end - length, end };
  return isBase64 ? extendToWord(text, range) : range;
}

/** Replaces each range by one mask. Ranges may overlap. */
function replaceRanges(text: string, ranges: Range[]): string {
  let maskedText = '';
  let position = 0;
  for (const { start, end } of ranges.sort((a, b) => a.start - b.start)) {
    if (start >= position) maskedText += text.slice(position, start) + MASK;
    position = Math.max(position, end);
  }
  return maskedText + text.slice(position);
}
