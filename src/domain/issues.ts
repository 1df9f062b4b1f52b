/** zod's findings as the platform's issues. */
import type { z } from 'zod';
import type { Issue } from '../errors.ts';

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

/** Every offending place, with its value unless that is a secret. */
export function issuesOf(error: z.ZodError, input: unknown, where: Issue['in'] = 'body'): Issue[] {
  return error.issues.flatMap((issue) => {
    const paths =
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => [...issue.path, key])
        : [issue.path];
    return paths.map((path) => {
      const value = valueAt(input, path);
      return {
        in: where,
        name: pathName(path),
        detail: issue.message,
        ...(value === undefined || isSecret(path) ? {} : { value }),
      };
    });
  });
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
