/** A text: strings, and the names of inputs. */
export type Parts = readonly (string | { member: string })[];

/** An error of the gateway: its problem document, from `extensions.problem`. */
export interface Issue {
  /** Path inside the input: `input.content.read.objects[0].schedule`. */
  name: string;
  title?: string;
  detail: string;
  /** Absent if it may be a secret. */
  value?: unknown;
  /** The detail in parts, without the position, if it names inputs or if the value is at a position in a text. */
  parts?: Parts;
  line?: number;
  column?: number;
}

/** The labels of the inputs of a form, by the paths of their members. */
export type Labels = ReadonlyMap<string, string>;

/** Returns the path of a member in the input: `untilTime` for `input.untilTime`. */
export function toInputName(name: string): string {
  return name.replace(/^input\./, '');
}

/**
 * Returns the input that shows an issue: the one with its name, or the one with the list or object that contains it.
 * `allowedOrigins[1]` is shown at `allowedOrigins`. Undefined if there is none.
 */
export function findInput({ name }: Issue, names: readonly string[]): string | undefined {
  let path = toInputName(name);
  while (path !== '' && !names.includes(path)) {
    path = path.slice(0, Math.max(path.lastIndexOf('['), path.lastIndexOf('.'), 0));
  }
  return path || undefined;
}

/**
 * Prints an issue at an input. The subject of an issue of an item is the item, and that of an issue deeper in the input,
 * such as in a document, is the path. The position in a document comes first.
 */
export function printIssue(issue: Issue, input: string, labels: Labels): string {
  const detail = printDetail(issue, labels);
  const path = toInputName(issue.name).slice(input.length).replace(/^\./, '');
  if (path === '') return detail;
  const [position = ''] = /^line \d+(, column \d+)?: /.exec(detail) ?? [];
  const predicate = detail.slice(position.length);
  const isItem = /^\[\d+\]$/.test(path) && typeof issue.value === 'string';
  const subject = isItem ? `“${issue.value}”` : path;
  return `${position}${subject}${needsSubject(predicate) ? ' ' : ': '}${predicate}`;
}

/** Prints the detail of an issue with the labels of the inputs that it names. */
export function printDetail(issue: Issue, labels: Labels): string {
  const { line, column } = issue;
  const position = issue.parts && line !== undefined ? `line ${line}, column ${column}: ` : '';
  return `${position}${printPredicate(issue, labels)}`;
}

/** Prints what is wrong, without the position of the value in its text. */
export function printPredicate({ detail, parts }: Issue, labels: Labels): string {
  return parts ? printParts(parts, labels) : detail;
}

/** Prints a text with the labels of the inputs that it names. */
export function printParts(parts: Parts, labels: Labels): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return part;
      const name = toInputName(part.member);
      const label = labels.get(name);
      return label === undefined ? name : `“${label}”`;
    })
    .join('');
}

interface ProblemDocument {
  title: string;
  detail: string;
  status?: number;
  href?: string;
  /** The scope that the caller lacks. */
  scope?: string;
  issues?: Issue[];
  /** The provider's own explanation. */
  providerMessage?: string;
}

export interface GraphqlError {
  message: string;
  path?: readonly (string | number)[];
  extensions?: { code?: string; problem?: ProblemDocument };
}

export class Problem extends Error {
  override name = 'Problem';
  readonly code: string;
  readonly document: ProblemDocument;

  constructor({ message, extensions }: GraphqlError) {
    super(extensions?.problem?.detail ?? message);
    this.code = extensions?.code ?? 'INTERNAL_ERROR';
    this.document = extensions?.problem ?? { title: 'Refused', detail: message };
  }

  get issues(): Issue[] {
    return this.document.issues ?? [];
  }
}

/** True if the subject of a detail is the input of its issue: "must be letters and digits." A position is no verb. */
export function needsSubject(detail: string): boolean {
  return /^(?!line \d)\p{Lowercase}/u.test(detail);
}

/** The part of a problem that a page shows. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Problem({ message });
}
