/** Creates the issues that a response lists for an invalid input. */
import type { z } from 'zod';
import { ISSUES_MAX, type Issue, type IssueKind, invalidInput } from '../../kernel/errors.ts';
import { createMemberSuggester } from '../../kernel/member-names.ts';
import {
  findValueAt,
  moveMembers,
  type Path,
  type PathMove,
  printText,
  type Text,
  text,
} from '../../kernel/text.ts';
import { describeZodIssue } from '../../kernel/zod-texts.ts';

/** Names of input members whose values never appear in a response or a log. */
const SECRET_MEMBERS = new Set([
  'apiKey',
  'clientSecret',
  'webhookSecret',
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
  'secrets',
]);

/**
 * Converts a validation error to issues, one for each invalid path. Omits secret values and values that a rule hides. With
 * the schema of the input, unknown names are compared with its names.
 */
export function toIssues(error: z.ZodError, input: unknown, schema?: z.ZodType): Issue[] {
  const suggest = schema ? createMemberSuggester(schema, input) : () => '';
  return error.issues.flatMap((issue) => {
    const isUnknown = issue.code === 'unrecognized_keys';
    const paths = isUnknown ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
    const isSecretValue = issue.code === 'custom' && issue.params?.isSecret === true;
    return paths.map((path) => {
      const value = findValueAt(input, path);
      const detail = createDetail(issue, value);
      return {
        kind: toIssueKind(issue, value),
        path,
        detail: isUnknown ? text`${detail}${suggest(path)}` : detail,
        ...(value === undefined || isSecretValue || isSecret(path) ? {} : { value }),
      };
    });
  });
}

/** Returns the text of an issue. Replaces zod's own messages, which end without a period, unlike those of rules. */
function createDetail(issue: z.core.$ZodIssue, value: unknown): Text {
  if (isRuleIssue(issue)) return getRuleText(issue);
  return issue.message.endsWith('.') ? issue.message : describeZodIssue(issue, value);
}

function toIssueKind({ code }: z.core.$ZodIssue, value: unknown): IssueKind {
  if (code === 'unrecognized_keys') return 'unknown-name';
  if (value === undefined) return 'missing-value';
  if (code === 'invalid_type' || code === 'invalid_union') return 'wrong-type';
  return code === 'too_big' || code === 'too_small' ? 'out-of-range' : 'invalid-value';
}

/**
 * A violation of a rule between members of an input. The path and the members in the text are relative to the schema that
 * declares the rule.
 */
export interface RuleIssue {
  path: PropertyKey[];
  message: string;
  params: { isSecret: boolean; text: Text; pathLength: number };
}

/** Creates the issue of a violated rule. The response repeats the value at the path only if `showsValue` is set. */
export function createRuleIssue(path: Path, detail: Text, { showsValue = false } = {}): RuleIssue {
  return {
    path: [...path],
    message: printText(detail),
    params: { isSecret: !showsValue, text: detail, pathLength: path.length },
  };
}

/** Returns the text of a rule's issue, with the paths of its members in the whole input. */
function getRuleText({ path, params }: RuleIssue): Text {
  const rulePath = path.slice(0, path.length - params.pathLength);
  return moveMembers(params.text, (memberPath) => [...rulePath, ...memberPath]);
}

function isRuleIssue(issue: z.core.$ZodIssue): issue is z.core.$ZodIssueCustom & RuleIssue {
  return issue.code === 'custom' && issue.params?.text !== undefined;
}

/** Returns the issue of a schema at another path, with the members of its text moved too. */
export function moveSchemaIssue(issue: z.core.$ZodIssue, movePath: PathMove): z.core.$ZodIssue {
  const path = [...movePath(issue.path)];
  if (!isRuleIssue(issue)) return { ...issue, path };
  const movedText = moveMembers(getRuleText(issue), movePath);
  return { ...issue, path, params: { ...issue.params, text: movedText, pathLength: path.length } };
}

/**
 * Converts rules between members to a check of a schema: `schema.superRefine(checkRules(find))`. zod runs the check only
 * if all types are valid.
 */
export function checkRules<T>(find: (value: T) => Iterable<RuleIssue>) {
  return (value: T, context: z.core.$RefinementCtx<T>): void => {
    for (const issue of find(value)) context.addIssue({ code: 'custom', ...issue });
  };
}

/** Throws BAD_USER_INPUT with these issues, up to ISSUES_MAX. Does nothing if there are none. */
export function requireNoIssues(newIssues: Iterable<Issue>): void {
  const issues: Issue[] = [];
  addIssues(issues, newIssues);
  if (issues.length > 0) throw invalidInput(issues);
}

/** Creates an issue for a rule that the schema of the input does not express. */
export function createInputIssue(path: Path, detail: Text, value?: unknown): Issue {
  return { path, detail, ...(value == null ? {} : { value }) };
}

/**
 * Adds issues up to ISSUES_MAX. It adds them one by one, because a request may have more issues than `push` accepts
 * arguments.
 */
export function addIssues(issues: Issue[], newIssues: Iterable<Issue>): void {
  for (const issue of newIssues) {
    if (issues.length >= ISSUES_MAX) return;
    issues.push(issue);
  }
}

/** True if the values at the path never appear in a response or a log. */
export function isSecret(path: Path): boolean {
  return path.some((key) => SECRET_MEMBERS.has(String(key)));
}
