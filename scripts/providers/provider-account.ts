/** Opens a session with a real account of a provider, with credentials from the environment and without a database. */
import {
  type Credentials,
  listSecrets,
} from '../../src/domain/connections/connection/credentials.ts';
import { fillAddress } from '../../src/domain/connections/connection/session/account-address.ts';
import { attachCredentials } from '../../src/domain/connections/connection/session/attached-credentials.ts';
import {
  createRequestUrl,
  sendRequest,
} from '../../src/domain/connections/connection/session/provider-request.ts';
import { createOutbound } from '../../src/outbound/client.ts';
import type { Provider, ProviderSession } from '../../src/providers/contract.ts';
import { createMask } from '../../src/work/secret-mask.ts';

type Environment = Record<string, string | undefined>;

/**
 * Opens a session with the credentials of the environment. Returns null without credentials. PROVIDER_TOKEN is an access
 * token or a key, PROVIDER_WORKSPACE the workspace, and PROVIDER_METADATA the connection's `providerMetadata` as JSON.
 */
export function openAccountSession(
  provider: Provider,
  env: Environment,
): (ProviderSession & AsyncDisposable) | null {
  const credentials = readCredentials(provider, env);
  if (!credentials) return null;
  const metadata: Record<string, string> = JSON.parse(env.PROVIDER_METADATA ?? '{}');
  const workspace = env.PROVIDER_WORKSPACE ?? null;
  const account = { providerWorkspaceRef: workspace, providerMetadata: metadata };
  const baseUrl = fillAddress(provider, provider.baseUrl, account);
  const attachedCredentials = attachCredentials({ now: () => new Date() }, provider, credentials);
  const mask = createMask(listSecrets(credentials));
  // The API may be a test server on this machine.
  const alwaysAllowedOrigins = () => [new URL(baseUrl).origin];
  const outbound = createOutbound({ allowedPrivateTargets: [], alwaysAllowedOrigins });
  return {
    baseUrl,
    findMetadata: (name) => (name === 'workspace' ? workspace : (metadata[name] ?? null)),
    now: () => new Date(),
    send(request) {
      const url = createRequestUrl({ ...provider, baseUrl }, request);
      return sendRequest(outbound, { provider, url, request, attached: attachedCredentials, mask });
    },
    [Symbol.asyncDispose]: () => outbound[Symbol.asyncDispose](),
  };
}

function readCredentials(
  { authSchemes: [scheme], custom }: Provider,
  { PROVIDER_TOKEN: token, PROVIDER_USER: username, PROVIDER_PASSWORD: password }: Environment,
): Credentials | null {
  if (scheme === 'BASIC') {
    return username && password !== undefined ? { scheme, username, password } : null;
  }
  // An API without authentication needs no credentials.
  if (scheme === 'NONE' && !custom) return { scheme, custom: {} };
  if (!token) return null;
  if (scheme === 'API_KEY') return { scheme, apiKey: token };
  if (scheme === 'NONE') {
    const inputs = (custom?.inputs ?? []).map((input) => [input.name, token]);
    return { scheme, custom: Object.fromEntries(inputs) };
  }
  return { scheme: 'OAUTH2_AUTHORIZATION_CODE', accessToken: { token }, scopes: [] };
}
