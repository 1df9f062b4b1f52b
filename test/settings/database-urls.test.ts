import { expect, test } from 'vitest';
import { splitDatabaseUrl } from '../../src/settings/database-urls.ts';

test.each([
  ['postgresql://host/name', ['postgresql://host/name']],
  ['postgres://me:pass@host:5432/name?ssl=true', ['postgres://me:pass@host:5432/name?ssl=true']],
  [
    'postgresql://me:pa,ss@first:5432,second,[::1]:5433/name?application_name=a,b',
    [
      'postgresql://me:pa,ss@first:5432/name?application_name=a,b',
      'postgresql://me:pa,ss@second/name?application_name=a,b',
      'postgresql://me:pa,ss@[::1]:5433/name?application_name=a,b',
    ],
  ],
])('splits %s into one URL for each server', (text, urls) => {
  expect(splitDatabaseUrl(text)).toEqual(urls);
});
