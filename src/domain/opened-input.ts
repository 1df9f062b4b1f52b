/** An input and the findings of its schema. It is parsed once, on every surface, and its findings are reported once. */
import type { z } from 'zod';
import { type DomainError, type Issue, invalidInput } from '../errors.ts';
import { addIssues, inputIssues } from './issues.ts';

export class OpenedInput<S extends z.ZodObject> {
  readonly schema: S;
  /** What the schema found, and what was added. */
  readonly issues: Issue[];
  readonly #given: unknown;
  readonly #data: z.output<S> | undefined;
  /** Whether every value has its type, so that rules can be checked. */
  readonly isWellFormed: boolean;

  /** `leftOut` replaces zod's message for a value that is missing. */
  constructor(schema: S, given: unknown, leftOut?: string) {
    const { data, error } = schema.safeParse(
      given,
      leftOut === undefined
        ? undefined
        : { error: ({ input }) => (input === undefined ? leftOut : undefined) },
    );
    this.schema = schema;
    this.issues = error ? inputIssues(error, given) : [];
    this.isWellFormed = !error?.issues.some(isOfForm);
    this.#given = given;
    this.#data = data;
  }

  /**
   * As it was given: its types are right, its rules may be broken. For checks whose findings are reported
   * with the schema's. Throws BAD_USER_INPUT if types are wrong.
   */
  get given(): z.input<S> {
    if (!this.isWellFormed) throw invalidInput(this.issues);
    return this.#given as z.input<S>;
  }

  /** Adds findings, which are reported with the schema's. */
  add(found: Iterable<Issue>): void {
    addIssues(this.issues, found);
  }

  /** What was found, to be thrown. */
  refusal(): DomainError {
    return invalidInput(this.issues);
  }

  /** Returns what the work returns. If it fails, findings in the input are thrown rather than its error. */
  async orElse<T>(work: Promise<T> | T): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw this.issues.length > 0 ? this.refusal() : error;
    }
  }

  /** The parsed input. Throws BAD_USER_INPUT with all that was found, and with these findings. */
  parsed(found: Iterable<Issue> = []): z.output<S> {
    this.add(found);
    if (this.#data === undefined || this.issues.length > 0) throw invalidInput(this.issues);
    return this.#data;
  }
}

/** Opens an input; one that a surface has opened by the same schema is returned as it is. */
export function openInput<S extends z.ZodObject>(schema: S, input: unknown): OpenedInput<S> {
  return isOpened(schema, input) ? input : new OpenedInput(schema, input);
}

function isOpened<S extends z.ZodObject>(schema: S, input: unknown): input is OpenedInput<S> {
  return input instanceof OpenedInput && input.schema === schema;
}

/** Findings about values whose rules can't be checked. */
export function isOfForm({ code }: z.core.$ZodIssue): boolean {
  return ['invalid_type', 'invalid_value', 'invalid_union', 'unrecognized_keys'].includes(code);
}
