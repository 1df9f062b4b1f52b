export interface Problem {
  /** A machine-readable code such as `unknown_field`. */
  code: string;
  /** A message for people. */
  message: string;
  field?: string;
}

/** A refused request. The response body is `{ error, errors }`. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly status: number;
  readonly problems: [Problem, ...Problem[]];
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    problems: Problem | [Problem, ...Problem[]],
    headers: Record<string, string> = {},
  ) {
    const all: [Problem, ...Problem[]] = Array.isArray(problems) ? problems : [problems];
    super(all[0].message);
    this.status = status;
    this.problems = all;
    this.headers = headers;
  }
}
