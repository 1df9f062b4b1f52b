export interface SandboxProblem {
  /** A machine-readable code such as `unknown_field`. */
  code: string;
  /** A human-readable message. */
  message: string;
  field?: string;
}

/** A refused request. The response body is `{ error, errors }`. */
export class SandboxRefusal extends Error {
  override name = 'SandboxRefusal';
  readonly status: number;
  readonly problems: [SandboxProblem, ...SandboxProblem[]];
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    problems: SandboxProblem | [SandboxProblem, ...SandboxProblem[]],
    headers: Record<string, string> = {},
  ) {
    const problemList: [SandboxProblem, ...SandboxProblem[]] = Array.isArray(problems)
      ? problems
      : [problems];
    super(problemList[0].message);
    this.status = status;
    this.problems = problemList;
    this.headers = headers;
  }
}
