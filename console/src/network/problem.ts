/** An error of the gateway: its problem document, from `extensions.problem`. */
export interface Issue {
  /** Path inside the input: `input.content.read.objects[0].schedule`. */
  name: string;
  title?: string;
  detail: string;
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
