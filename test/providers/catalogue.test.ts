import { describe, expect, test } from 'vitest';
import { CATALOGUE } from '../../src/providers/catalogue/all-rows.ts';
import { type Provider, supportedCapabilities } from '../../src/providers/contract.ts';
import { DECLARED } from '../../src/providers/declared/all.ts';
import { unboundHosts } from './whole-hosts.ts';

/** Told by the token answer, when it is not asked for. */
function learnsWorkspace({ oauth2 }: Provider): boolean {
  return oauth2?.tokenFields?.workspaceRef !== undefined;
}

function urlsOf({ baseUrl, oauth2 }: Provider): string[] {
  return [baseUrl, oauth2?.authorizeUrl, oauth2?.tokenUrl].filter((url) => url !== undefined);
}

test('every provider has a name of its own', () => {
  expect(new Set(CATALOGUE.map(({ name }) => name)).size).toBe(CATALOGUE.length);
  expect(new Set(CATALOGUE.map(({ displayName }) => displayName)).size).toBe(CATALOGUE.length);
});

describe.each(CATALOGUE.map((provider) => ({ name: provider.name, provider })))('$name', ({
  provider,
}) => {
  test('has https addresses once their variables are filled in', () => {
    for (const url of urlsOf(provider)) {
      const whole = url === '{{workspace}}' ? 'https://acme.example' : url;
      const filled = new URL(whole.replaceAll(/\{\{\w+\}\}/g, 'acme'));
      expect(filled.protocol).toBe('https:');
      expect(whole.endsWith('/')).toBe(false);
    }
  });

  test('leads to no host but those of the vendor', () => {
    expect(unboundHosts(provider)).toEqual([]);
  });

  test('asks for a workspace where its addresses need one that no token tells', () => {
    const needed = urlsOf(provider).some((url) => url.includes('{{workspace}}'));
    if (needed) expect(provider.workspaceRequired ?? false).toBe(!learnsWorkspace(provider));
  });

  test('declares what each of its schemes needs, and nothing else', () => {
    const { authSchemes, oauth2, apiKey, custom } = provider;
    const [scheme = '', ...others] = authSchemes;
    // The first one is the reference API's grant type. PKCE is the only further one.
    expect(others.filter((other) => other !== 'OAUTH2_AUTHORIZATION_CODE_PKCE')).toEqual([]);
    if (others.length > 0) expect(scheme).toBe('OAUTH2_AUTHORIZATION_CODE');
    expect(oauth2 !== undefined).toBe(scheme.startsWith('OAUTH2'));
    expect(oauth2?.authorizeUrl !== undefined).toBe(scheme.includes('AUTHORIZATION_CODE'));
    expect(apiKey !== undefined).toBe(scheme === 'API_KEY');
    expect(custom !== undefined).toBe(scheme === 'NONE');
  });

  test('fills its custom headers from inputs that it asks for', () => {
    // An account's key signs for a token: no header has it.
    if (provider.custom?.serviceAccount) return;
    const asked = provider.custom?.inputs.map(({ name }) => name) ?? [];
    const used = (provider.custom?.headers ?? []).flatMap(({ valueTemplate }) =>
      [...valueTemplate.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name),
    );
    expect(used).toEqual(asked);
  });

  test('claims no more than forwarding requests', () => {
    if (DECLARED.includes(provider)) return;
    expect(supportedCapabilities(provider)).toEqual(['PROXY']);
  });
});

test('knows how each key goes into a request', () => {
  const attachments = CATALOGUE.filter(({ apiKey }) => apiKey).map(({ name, apiKey }) => [
    name,
    apiKey,
  ]);
  expect(Object.fromEntries(attachments)).toEqual({
    jotform: { in: 'query', name: 'apiKey' },
    monday: { in: 'header', name: 'Authorization' },
    sendGrid: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
    square: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
    stripe: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
  });
});
