/** Converts inputs with `@oneOf` members to the domain's flat inputs, and errors back to GraphQL's members. */
import type { ExclusiveMembers } from '../../domain/declared-mutation.ts';
import { DomainError, invalidInput } from '../../errors.ts';

type Input = Record<string, unknown>;

/** Replaces each group with its member: `records: { record }` becomes `record`. */
export function flattenGroups(input: Input, groups: readonly ExclusiveMembers[]): Input {
  const flatInput = { ...input };
  for (const { name } of groups) {
    Object.assign(flatInput, input[name]);
    delete flatInput[name];
  }
  return flatInput;
}

/** Replaces `input.apiKey` with `input.credentials.apiKey` in the message and the issues of an error. */
export function addGroupsToError(error: unknown, groups: readonly ExclusiveMembers[]): unknown {
  if (!(error instanceof DomainError) || !error.issues) return error;
  const issues = error.issues.map((issue) => ({
    ...issue,
    name: addGroupNames(issue.name, groups),
  }));
  if (error.code === 'BAD_USER_INPUT') return invalidInput(issues, error.extra);
  return new DomainError(error.code, addGroupNames(error.message, groups), {
    ...error.extra,
    issues,
  });
}

function addGroupNames(text: string, groups: readonly ExclusiveMembers[]): string {
  return groups.reduce((result, { name, members }) => {
    // Strings in double quotes contain the caller's input, which stays unchanged.
    const pattern = new RegExp(
      `"(?:[^"\\\\]|\\\\.)*"|\\binput\\.(?=(?:${members.join('|')})\\b)`,
      'g',
    );
    return result.replace(pattern, (match) => (match === 'input.' ? `input.${name}.` : match));
  }, text);
}
