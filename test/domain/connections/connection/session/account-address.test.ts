import { expect, test } from 'vitest';
import { fillAddress } from '../../../../../src/domain/connections/connection/session/account-address.ts';

function fillTemplate(
  template: string,
  providerWorkspaceRef: string | null,
  metadata: object | null = null,
) {
  return fillAddress({}, template, { providerWorkspaceRef, providerMetadata: metadata as never });
}

test('replaces variables with the workspace and the metadata', () => {
  expect(fillTemplate('https://{{workspace}}.crm.test/api/', 'acme')).toBe(
    'https://acme.crm.test/api',
  );
  const metadata = { region: 'crm4', cloudId: { value: 'c-1', source: 'provider' } };
  expect(
    fillTemplate('https://{{workspace}}.api.{{region}}.crm.test/{{cloudId}}', 'acme', metadata),
  ).toBe('https://acme.api.crm4.crm.test/c-1');
  expect(fillTemplate('https://crm.test', null)).toBe('https://crm.test');
});

test('accepts only a plain https address as a workspace that is the whole address', () => {
  expect(fillTemplate('{{workspace}}', 'https://eu.crm.test/v2/')).toBe('https://eu.crm.test/v2');
  for (const workspace of [
    'http://eu.crm.test',
    'https://u:p@crm.test',
    'https://crm.test/?a',
    'x',
  ]) {
    expect(() => fillTemplate('{{workspace}}', workspace)).toThrow(
      /providerWorkspaceRef must be an https/,
    );
  }
});

test('names the missing variable in the error', () => {
  expect(() => fillTemplate('https://{{workspace}}.crm.test', null)).toThrow(
    "The connection's providerWorkspaceRef is required for the address but missing.",
  );
  for (const metadata of [null, {}, { region: '' }, { region: { value: 3 } }, { region: {} }]) {
    expect(() => fillTemplate('https://{{region}}.crm.test', 'acme', metadata)).toThrow(
      "The connection's providerMetadata.region is required",
    );
  }
  expect(() => fillTemplate('https://{{toString}}.crm.test', 'acme', {})).toThrow('missing');
});

test.each([
  'evil.test/',
  'evil.test#',
  'evil.test?',
  'a@b',
  'a:1',
  '..',
  'a b',
  'a\\b',
  'a%2fb',
  'é',
])('refuses %j as a part of an address', (value) => {
  for (const template of ['https://{{workspace}}.crm.test', 'https://crm.test/{{region}}/api']) {
    expect(() => fillTemplate(template, value, { region: value })).toThrow(/must be letters/);
  }
});

test('refuses a host that the provider does not list', () => {
  const hosts = { domain: ['accounts.crm.test', 'accounts.crm.example'] };
  const fillDomain = (domain: string) =>
    fillAddress({ hosts }, 'https://{{domain}}/token', {
      providerWorkspaceRef: null,
      providerMetadata: { domain },
    });
  expect(fillDomain('accounts.crm.example')).toBe('https://accounts.crm.example/token');
  for (const domain of ['evil.test', 'accounts.crm.test.evil.test', 'x.accounts.crm.test']) {
    expect(() => fillDomain(domain)).toThrow(
      "The connection's providerMetadata.domain must be accounts.crm.test or accounts.crm.example.",
    );
  }
});

test('refuses a workspace that is an address at a host that the provider does not list', () => {
  const provider = { hosts: { workspace: ['api.crm.test', '*.api.crm.test'] } };
  const fillWorkspace = (providerWorkspaceRef: string) =>
    fillAddress(provider, '{{workspace}}', { providerWorkspaceRef, providerMetadata: null });
  for (const workspace of ['https://api.crm.test', 'https://EU-1.api.crm.test/base']) {
    expect(fillWorkspace(workspace)).toBe(workspace);
  }
  for (const workspace of [
    'https://evil.test',
    'https://evilapi.crm.test',
    'https://api.crm.test.evil.test',
    'https://api.crm.test:8443',
    'http://api.crm.test',
  ]) {
    expect(() => fillWorkspace(workspace)).toThrow(
      'must be an https address without query or fragment, at api.crm.test or *.api.crm.test.',
    );
  }
});
