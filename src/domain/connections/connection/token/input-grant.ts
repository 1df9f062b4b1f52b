/** Exchanges the custom inputs of a connection for a token, by the named grant of its provider. */
import type { OAuth2Settings, Provider } from '../../../../providers/contract.ts';
import type { InputGrant } from '../../../../providers/input-grants.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import type { ProjectServices } from '../../../access/call.ts';
import { type AccountMetadata, fillAddress } from '../session/account-address.ts';
import {
  fillTemplate,
  type InputProblem,
  type Inputs,
  listAssertionProblems,
  signAssertion,
} from './assertion.ts';
import { findText, type TokenRequest } from './token-endpoint.ts';

const JWT_BEARER_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const JWT_BEARER_CLIENT = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Lists problems with the inputs of a grant. The details do not contain values. */
export function listGrantProblems(grant: InputGrant, inputs: Inputs): InputProblem[] {
  return 'assertion' in grant ? listAssertionProblems(grant.assertion, inputs) : [];
}

/**
 * Creates a request without a client, because the inputs authenticate it. Throws BAD_REQUEST if the provider no longer
 * declares a grant.
 */
export async function createInputGrantRequest(
  { catalog, now }: Pick<ProjectServices, 'catalog' | 'now'>,
  connection: AccountMetadata & { provider: string },
  inputs: Inputs,
): Promise<TokenRequest> {
  const provider = catalog.find(connection.provider);
  const grant = provider?.custom?.grant;
  if (!grant) {
    const message = `${connection.provider} does not exchange custom inputs for tokens.`;
    throw new ProviderError('BAD_REQUEST', message);
  }
  if (grant.type === 'LOGIN') return createLoginRequest(provider, grant, { connection, inputs });
  const tokenUrl = 'tokenUrl' in grant ? fillAddress(provider, grant.tokenUrl, connection) : null;
  const { assertion, expiresAt } = await signAssertion({
    settings: grant.assertion,
    inputs,
    account: connection,
    tokenUrl,
    now: now(),
  });
  if (grant.type === 'SIGNED_TOKEN') {
    const ownToken = { token: assertion, expiresAt: expiresAt.toISOString() };
    return { ...createRequest(provider, { tokenUrl: '' }, connection), ownToken };
  }
  const form: TokenRequest['form'] =
    grant.type === 'JWT_BEARER'
      ? { grant_type: JWT_BEARER_GRANT, assertion }
      : {
          grant_type: 'client_credentials',
          client_assertion_type: JWT_BEARER_CLIENT,
          client_assertion: assertion,
        };
  return { ...createRequest(provider, grant, connection), form };
}

function createRequest(
  provider: Provider,
  { tokenUrl, defaultLifetimeSeconds, tokenErrors }: OAuth2Settings,
  account: AccountMetadata,
): TokenRequest {
  const oauth2 = {
    tokenUrl,
    ...(defaultLifetimeSeconds && { defaultLifetimeSeconds }),
    ...(tokenErrors && { tokenErrors }),
  };
  return { provider: { ...provider, oauth2 }, account, client: null, form: {} };
}

function createLoginRequest(
  provider: Provider,
  grant: Extract<InputGrant, { type: 'LOGIN' }>,
  { connection, inputs }: { connection: AccountMetadata; inputs: Inputs },
): TokenRequest {
  const { basic, keyField, credentials } = grant.login;
  const encode = (template: string, values: Inputs) => {
    const filled = fillTemplate(template, values, connection);
    return filled === undefined ? null : Buffer.from(filled).toString('base64');
  };
  const pair = encode(basic, inputs);
  if (pair === null) throw new ProviderError('BAD_REQUEST', 'An input of the login is missing.');
  return {
    ...createRequest(provider, grant, connection),
    login: {
      authorization: `Basic ${pair}`,
      readToken(body) {
        const key = findText(body, keyField);
        return key === null ? null : encode(credentials, { ...inputs, key });
      },
    },
  };
}
