/** Translates between a mutation's GraphQL input, which has `@oneOf` members, and the flat input of the domain. */
import type { ExclusiveMembers } from '../../domain/declared-mutation.ts';
import { DomainError, invalidInput } from '../../errors.ts';

type Input = Record<string, unknown>;

/** Replaces each group by the member that it contains: `records: { record }` becomes `record`. */
export function flattenGroups(input: Input, groups: readonly ExclusiveMembers[]): Input {
  const flatInput = { ...input };
  for (const { name } of groups) {
    Object.assign(flatInput, input[name]);
    delete flatInput[name];
  }
  return flatInput;
}

/** Writes `input.credentials.apiKey` for `input.apiKey`, in the issues of a refusal and in its message. */
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
    // Strings in double quotes are the caller's.
    const pattern = new RegExp(
      `"(?:[^"\\\\]|\\\\.)*"|\\binput\\.(?=(?:${members.join('|')})\\b)`,
      'g',
    );
    return result.replace(pattern, (match) => (match === 'input.' ? `input.${name}.` : match));
  }, text);
}
