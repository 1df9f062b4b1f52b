/**
 * Setup file of vitest: after each test file, fails if a statement without a condition on its project was
 * sent.
 */
import { afterAll } from 'vitest';
import { listMissingConditions } from './project-conditions.ts';
import { takeProductTexts } from './statements.ts';

afterAll(expectProjectsNamed);

const MISSING_BY_TEXT = new Map<string, string[]>();

function expectProjectsNamed(): void {
  const violations = takeProductTexts().flatMap((text) => {
    const missingConditions = MISSING_BY_TEXT.get(text) ?? listMissingConditions(text);
    MISSING_BY_TEXT.set(text, missingConditions);
    return missingConditions.length > 0
      ? `The statement ${missingConditions.join(' and ')} of all projects: ${text}`
      : [];
  });
  if (violations.length > 0) throw new Error(violations.join('\n'));
}
