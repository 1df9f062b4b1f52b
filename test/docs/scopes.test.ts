/** docs/scopes.md lists every scope and the fields of the schema that need it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatScopesPage } from '../../scripts/scopes-page.ts';
import { ROOT } from '../support/documents.ts';

test('docs/scopes.md is up to date', () => {
  const page = readFileSync(join(ROOT, 'docs/scopes.md'), 'utf8');
  expect(page, 'Run `npm run schema` to update it.').toBe(formatScopesPage());
});
