import { expect, test } from 'vitest';
import { listWorkspaceIssues } from '../../../../src/domain/connections/provider/provider-workspace.ts';
import type { Provider } from '../../../../src/providers/contract.ts';
import { PROVIDERS } from '../../../support/fixtures/connections.ts';

function isRefused(name: string, ref: string | null): boolean {
  const provider = PROVIDERS.find((candidate) => candidate.name === name) as Provider;
  return listWorkspaceIssues(provider, ref).length > 0;
}

test.each([
  'acme',
  'ACME-1',
  'acme--dev.sandbox',
  'a'.repeat(63),
])('accepts the workspace %s', (ref) => {
  expect(isRefused('salesforce', ref)).toBe(false);
  expect(isRefused('sandbox', ref)).toBe(false);
});

test.each([
  'evil.com/',
  'evil.com?',
  'evil.com#',
  'user@evil',
  'evil:8080',
  'a b',
  'a..b',
  '.a',
  'a.',
  'a\\b',
  'ä',
  'a\n',
  '{{workspace}}',
  'a'.repeat(64),
  `${'a.'.repeat(127)}a`,
])('refuses the workspace %j, which could change an address', (ref) => {
  expect(isRefused('salesforce', ref)).toBe(true);
});

test('accepts any string of one line if no address contains the workspace', () => {
  expect(isRefused('stripe', 'acct_1032D82eZvKYlo2C')).toBe(false);
  expect(isRefused('zoom', 'a/b+c==')).toBe(false);
  expect(isRefused('stripe', 'acct_1\nacct_2')).toBe(true);
});

test('requires a workspace if an address contains it', () => {
  expect(isRefused('salesforce', null)).toBe(true);
  expect(isRefused('gong', null)).toBe(true);
  expect(isRefused('sandbox', null)).toBe(false);
});

test('requires a plain https URL if the workspace is the whole address', () => {
  expect(isRefused('gong', 'https://us-1.api.gong.io')).toBe(false);
  expect(isRefused('gong', 'https://us-1.api.gong.io/base')).toBe(false);
  const address = 'https://us-1.api.gong.io';
  for (const ref of ['acme', 'http://api.gong.io', 'https://u:p@api.gong.io', `${address}/?a=1`]) {
    expect(isRefused('gong', ref)).toBe(true);
  }
});

test('refuses an address at a host of another vendor', () => {
  expect(isRefused('gong', 'https://us-1.api.gong.io.evil.test')).toBe(true);
  expect(isRefused('zoho', 'https://www.zohoapis.eu')).toBe(false);
  expect(isRefused('zoho', 'https://sandbox.zohoapis.com.au')).toBe(false);
  expect(isRefused('zoho', 'https://zohoapis.evil.test')).toBe(true);
});
