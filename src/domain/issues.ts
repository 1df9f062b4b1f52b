/** zod's findings as the platform's issues. */
import type { z } from 'zod';
import { ISSUES_MAX, type Issue, type IssueKind } from '../errors.ts';

/** Inputs whose values never go into an answer or a log. */
const SECRET_INPUTS = new Set([
  'apiKey',
  'clientSecret',
  'password',
  'token',
  'accessToken',
  'refreshToken',
  'basicAuth',
  'oauth2ClientCredentials',
  'oauth2PasswordCredentials',
  'oauth2AuthorizationCode',
  'customAuth',
  'headers',
]);

/**
 * Every offending place, with its value unless that is a secret: by its name, or because a rule of its
 * own says so (`params: { isSecret: true }`).
 */
export function issuesOf(error: z.ZodError, input: unknown, where: Issue['in'] = 'body'): Issue[] {
  return error.issues.flatMap((issue) => {
    const paths =
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => [...issue.path, key])
        : [issue.path];
    const isSecretValue = issue.code === 'custom' && issue.params?.isSecret === true;
    return paths.map((path) => {
      const value = valueAt(input, path);
      return {
        kind: kindOf(issue, value),
        in: where,
        name: pathName(path),
        detail: issue.message,
        ...(value === undefined || isSecretValue || isSecret(path) ? {} : { value }),
      };
    });
  });
}

function kindOf({ code }: z.core.$ZodIssue, value: unknown): IssueKind {
  if (code === 'unrecognized_keys') return 'unknown-name';
  if (value === undefined) return 'missing-value';
  if (code === 'invalid_type' || code === 'invalid_union') return 'wrong-type';
  return code === 'too_big' || code === 'too_small' ? 'out-of-range' : 'invalid-value';
}

/** The same of the `input` argument of a mutation. */
export function inputIssues(error: z.ZodError, input: unknown): Issue[] {
  return issuesOf(error, input).map((issue) => ({
    ...issue,
    name: issue.name === '' ? 'input' : `input.${issue.name}`,
  }));
}

/** One issue of a rule that is not zod's. */
export function issueAt(path: readonly PropertyKey[], detail: string, value?: unknown): Issue {
  return { in: 'body', name: pathName(path), detail, ...(value == null ? {} : { value }) };
}

/** Up to ISSUES_MAX of them: a request may have more findings than a call of `push` takes arguments. */
export function addIssues(issues: Issue[], found: Iterable<Issue>): void {
  for (const issue of found) {
    if (issues.length >= ISSUES_MAX) return;
    issues.push(issue);
  }
}

/** `read.objects[0].schedule` */
export function pathName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    return name === '' ? String(part) : `${name}.${String(part)}`;
  }, '');
}

function isSecret(path: readonly PropertyKey[]): boolean {
  return path.some((part) => SECRET_INPUTS.has(String(part)));
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) => (value as Record<PropertyKey, unknown> | null | undefined)?.[part],
    input,
  );
}
