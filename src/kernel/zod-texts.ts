/** Describes in sentences what zod reports about a value. */
import type { z } from 'zod';
import { enumValue, joinTexts, type Text, text } from './text.ts';

const TYPES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  date: 'a timestamp',
  null: 'null',
};

const FORMATS: Record<string, string> = {
  email: 'must be an email address.',
  url: 'must be a URL.',
  datetime: 'must be a timestamp like 2026-01-31T12:00:00Z.',
  safeint: 'must be an integer.',
};

/** Returns what is wrong with the value, as a predicate. */
export function describeZodIssue(issue: z.core.$ZodIssue, value: unknown): Text {
  if (issue.code === 'invalid_value') return text`must be ${formatChoices(issue.values)}.`;
  if (value === undefined && issue.code !== 'unrecognized_keys') return 'is required.';
  switch (issue.code) {
    case 'unrecognized_keys':
      return 'is not a member of this input.';
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}.`;
    case 'invalid_format':
      return FORMATS[issue.format] ?? describePattern(issue.pattern);
    case 'too_small':
    case 'too_big':
      return describeLimit(issue);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}.`;
    default:
      return 'has none of the allowed forms.';
  }
}

function describePattern(pattern: string | undefined): string {
  return pattern === undefined ? 'has the wrong format.' : `must match ${pattern}.`;
}

type LimitIssue = z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig;

const UNITS: Record<string, string> = { string: 'character', array: 'item', map: 'member' };

function describeLimit(issue: LimitIssue): string {
  const isMinimum = issue.code === 'too_small';
  const limit = Number(isMinimum ? issue.minimum : issue.maximum);
  const unit = UNITS[issue.origin];
  const bound = isMinimum ? 'at least' : 'at most';
  if (unit === undefined) {
    const exclusiveBound = isMinimum ? 'more than' : 'less than';
    return `must be ${issue.inclusive === false ? exclusiveBound : bound} ${limit}.`;
  }
  if (isMinimum && limit === 1) return 'must not be empty.';
  return `must have ${bound} ${limit} ${unit}${limit === 1 ? '' : 's'}.`;
}

function formatChoices(values: readonly unknown[]): Text {
  const names = values.map((value) => enumValue(String(value)));
  return names.length === 1 ? joinTexts(names) : text`one of ${joinTexts(names, ', ')}`;
}
