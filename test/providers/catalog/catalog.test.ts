import { describe, expect, test } from 'vitest';
import { CATALOG } from '../../../src/providers/catalog/all-entries.ts';
import { listUnboundHosts, listUrls } from '../../../src/providers/catalog/unbound-hosts.ts';
import {
  isConsentScheme,
  listCapabilities,
  type Provider,
} from '../../../src/providers/contract.ts';
import { DECLARED } from '../../../src/providers/declared/all.ts';

/** True if the token response contains the workspace. */
function returnsWorkspace({ oauth2 }: Provider): boolean {
  return oauth2?.tokenFields?.workspaceRef !== undefined;
}

/** Returns the URLs that a connection needs, and not only a module. */
function listConnectUrls({ baseUrl, oauth2 }: Provider): string[] {
  return [baseUrl, oauth2?.authorizeUrl, oauth2?.tokenUrl].filter((url) => url !== undefined);
}

/** Schemes with which providers connect too, but not in the reference API's catalog. */
const OTHER_SCHEMES: Record<string, string[]> = {
  front: ['OAUTH2_AUTHORIZATION_CODE'],
  square: ['API_KEY'],
};

test('gives every provider a unique name', () => {
  expect(new Set(CATALOG.map(({ name }) => name)).size).toBe(CATALOG.length);
  expect(new Set(CATALOG.map(({ displayName }) => displayName)).size).toBe(CATALOG.length);
});

describe.each(CATALOG.map((provider) => ({ name: provider.name, provider })))('$name', ({
  provider,
}) => {
  test('has https URLs without a trailing slash once its variables are filled in', () => {
    for (const url of listUrls(provider)) {
      const baseUrl = url.replace(/^\{\{workspace\}\}/, 'https://acme.example');
      const filled = new URL(baseUrl.replaceAll(/\{\{\w+\}\}/g, 'acme'));
      expect(filled.protocol).toBe('https:');
      expect(baseUrl.endsWith('/')).toBe(false);
    }
  });

  test("sends credentials to no host but the vendor's", () => {
    expect(listUnboundHosts(provider)).toEqual([]);
  });

  test('requires the workspace that its URLs need, unless the token response contains it', () => {
    const needsWorkspace = listConnectUrls(provider).some((url) => url.includes('{{workspace}}'));
    if (needsWorkspace)
      expect(provider.workspaceRequired ?? false).toBe(!returnsWorkspace(provider));
  });

  test('declares exactly the settings of its authentication scheme', () => {
    const { name, authSchemes, oauth2, apiKey, custom } = provider;
    const [scheme = '', ...others] = authSchemes;
    // The first scheme is the reference API's. PKCE may follow it, or another way to connect to the same API.
    const isOther = (other: string) => other !== 'OAUTH2_AUTHORIZATION_CODE_PKCE';
    expect(others.filter(isOther)).toEqual(OTHER_SCHEMES[name] ?? []);
    if (!others.every(isOther)) expect(scheme).toBe('OAUTH2_AUTHORIZATION_CODE');
    expect(oauth2 !== undefined).toBe(authSchemes.some((one) => one.startsWith('OAUTH2')));
    expect(oauth2?.authorizeUrl !== undefined).toBe(authSchemes.some(isConsentScheme));
    expect(apiKey !== undefined).toBe(authSchemes.includes('API_KEY'));
    expect(custom !== undefined).toBe(scheme === 'NONE');
  });

  test('fills its custom headers from exactly the inputs that it requests', () => {
    // A grant exchanges the inputs for a token, so no header contains them.
    if (provider.custom?.grant) return;
    const declaredNames = provider.custom?.inputs.map(({ name }) => name) ?? [];
    const usedNames = (provider.custom?.headers ?? []).flatMap(({ valueTemplate }) =>
      [...valueTemplate.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name),
    );
    expect(usedNames).toEqual(declaredNames);
  });

  test('has a health check if it moves records with tokens, or with a key', () => {
    if (provider.capabilities.readPage) expect(provider.healthCheck).toBeDefined();
  });

  test('supports only the proxy unless it is declared', () => {
    if (DECLARED.includes(provider)) return;
    expect(listCapabilities(provider)).toEqual(['PROXY']);
  });
});

test('declares where the API keys of declared providers go in a request', () => {
  const attachments = DECLARED.filter(({ apiKey }) => apiKey).map(({ name, apiKey }) => [
    name,
    apiKey,
  ]);
  expect(Object.fromEntries(attachments)).toEqual({
    front: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
    monday: { in: 'header', name: 'Authorization' },
    square: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
    stripe: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
  });
});

test('sends the headers of every request with health checks too, except those with metadata', () => {
  const findHeaders = (name: string) => {
    const healthCheck = DECLARED.find((provider) => provider.name === name)?.healthCheck;
    return typeof healthCheck === 'object' ? healthCheck.headers : undefined;
  };
  expect(findHeaders('notion')).toEqual({ 'Notion-Version': '2025-09-03' });
  expect(findHeaders('xero')).toEqual({});
});
