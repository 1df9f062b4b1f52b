/** Connects an organization whose administrator has consented, and in which the person has then signed in. */
import { decodeJwt } from 'jose';
import type { Tables } from '../../../../database/statements/tables.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import type { ProjectServices } from '../../../access/call.ts';
import type { StoredFlowInput } from '../oauth-connect.ts';
import { putConnection } from '../put-connection.ts';
import { dropIfTooLong } from '../session/identify-account.ts';
import { replaceTokens } from '../token/token.ts';
import { requestTokens } from '../token/token-endpoint.ts';
import { createRefreshRequest, getOAuthProvider } from '../token/token-request.ts';

interface SignIn {
  flow: Tables['OAuthConnect'];
  input: StoredFlowInput;
  /** The id token of the sign-in. The token endpoint has returned it, so its signature is not checked. */
  idToken: string | null;
}

/**
 * Requests the first token of the organization, and creates or renews the connection. Returns its id. Throws ProviderError
 * if the sign-in names no organization, or if no administrator has consented for it.
 */
export async function storeAdminConsent(
  services: ProjectServices,
  { flow, input, idToken }: SignIn,
): Promise<string> {
  const { projectId, provider, providerAppId, authScheme: scheme } = flow;
  const { oauth2 } = getOAuthProvider(services, provider);
  const workspaceRef = findTokenClaim(idToken, oauth2.adminConsent?.workspaceClaim ?? '');
  if (workspaceRef === null) {
    throw new ProviderError('BAD_REQUEST', 'The sign-in did not name the organization.');
  }
  const account = { providerWorkspaceRef: workspaceRef, providerMetadata: null };
  const before = { scheme: 'ADMIN_CONSENT' as const, workspaceRef };
  const request = await createRefreshRequest(
    services,
    { projectId, provider, providerAppId, ...account },
    before,
  );
  const connection = await putConnection(services, {
    projectId,
    scheme,
    providerConsumerRef: dropIfTooLong(findTokenClaim(idToken, 'sub')),
    isWorkspaceFromToken: true,
    credentials: replaceTokens(before, await requestTokens(services, request)),
    input: { ...input, provider, providerAppId, providerWorkspaceRef: workspaceRef },
  });
  return connection.id;
}

/** Returns a claim that is text. Null if the token can't be read or lacks it. */
function findTokenClaim(token: string | null, name: string): string | null {
  try {
    const value = decodeJwt(token ?? '')[name];
    return typeof value === 'string' && value !== '' ? value : null;
  } catch {
    return null;
  }
}
