/**
 * Starts an OAuth flow in a browser. consent/oauth-link.ts sends the browser to the provider's consent page, and
 * consent/oauth-callback.ts handles its return.
 */
import type { z } from 'zod';
import { isForeignKeyViolation } from '../../../database/connect/violations.ts';
import type { Prisma } from '../../../database/generated/client.ts';
import type { Tables } from '../../../database/statements/tables.ts';
import { rateLimited, unprocessable } from '../../../kernel/errors.ts';
import type { SealedLocation } from '../../../kernel/secrets.ts';
import type { ProjectCall, RowServices, Services } from '../../access/call.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { runRecordingSetupFailures } from '../diagnosis/setup-failure.ts';
import { CALLBACK_PATH } from '../provider/provider-app.ts';
import { startOAuthConnectInput } from './connection-input.ts';
import { createRandomString, createTicket } from './consent/flow-ticket.ts';
import { refuseOtherParties } from './end-user-parties.ts';
import { type OAuthFlowSetup, prepareOAuthFlow } from './oauth-connect-check.ts';

/** The path of the link that starts an OAuth flow. Its ticket is in the query, which logs omit. */
export const LINK_PATH = '/oauth/connect';
/** How long an OAuth flow is valid: enough to sign in with a second factor and read the consent page. */
export const LIFETIME_MS = 10 * 60_000;
/** The maximum number of pending OAuth flows of a project. */
const PENDING_MAX = 10_000;

export type OAuthFlowInput = Omit<z.output<typeof startOAuthConnectInput>, 'projectIdOrName'>;

const STORED_MEMBERS = [
  'groupRef',
  'consumerRef',
  'groupName',
  'consumerName',
  'providerWorkspaceRef',
  'providerMetadata',
] as const;
/** The part of the input that is stored until the browser returns. */
export type StoredFlowInput = Pick<OAuthFlowInput, (typeof STORED_MEMBERS)[number]> & {
  scopes: string[];
};

export const startOAuthConnect = projectMutation({
  description:
    'Starts connecting an account in a browser, and returns the link to open there. When the person has consented in that browser, the callback creates or renews the connection.',
  needs: orEndUser('connections:write', 'CONNECT'),
  input: startOAuthConnectInput,
  async run(call, input, { id }) {
    await refuseOtherParties(call, input);
    return beginOAuthFlow(call, id, input);
  },
});

export interface StartedOAuthFlow {
  /** The gateway's link. It redirects the browser to the provider's consent page. */
  authorizeUrl: string;
  expireTime: Date;
  /** The URL at which users first install the package of the app. Null if the provider requires none. */
  packageInstallUrl: string | null;
}

/** Stores a pending OAuth flow. The caller must have checked that the viewer may use the group and the consumer. */
export async function beginOAuthFlow(
  call: ProjectCall,
  projectId: string,
  input: OAuthFlowInput,
): Promise<StartedOAuthFlow> {
  const { provider } = input;
  const setup = { projectId, provider, input: startOAuthConnectInput };
  const flowSetup = await runRecordingSetupFailures(call, setup, () =>
    prepareOAuthFlow(call, projectId, input),
  );
  await requireCapacity(call, projectId);
  const { ticket, id } = createTicket(projectId);
  const codeVerifier =
    flowSetup.scheme === 'OAUTH2_AUTHORIZATION_CODE_PKCE' ? createRandomString() : null;
  const gatewayUrl = call.publicUrl();
  const expireTime = new Date(call.now().getTime() + LIFETIME_MS);
  await insertOAuthFlow(call, {
    id,
    projectId,
    provider: flowSetup.provider.name,
    providerAppId: flowSetup.app.id,
    authScheme: flowSetup.scheme,
    input: toStoredInput(input, flowSetup),
    callbackUrl: gatewayUrl + CALLBACK_PATH,
    redirectUrl: input.redirectUrl ?? null,
    codeVerifierSealed:
      codeVerifier && call.vault.seal(codeVerifier, toCodeVerifierLocation(id, projectId)),
    expireTime,
  });
  const { packageInstallUrl } = flowSetup.app;
  const authorizeUrl = `${gatewayUrl}${LINK_PATH}?ticket=${ticket}`;
  return { authorizeUrl, expireTime, packageInstallUrl };
}

/** Throws UNPROCESSABLE if the provider app was deleted after the input was checked. */
async function insertOAuthFlow(
  { database }: RowServices,
  data: Prisma.OAuthConnectUncheckedCreateInput,
): Promise<void> {
  try {
    await database.prisma.oAuthConnect.create({ data });
  } catch (error) {
    if (isForeignKeyViolation(error)) throw unprocessable('The provider app was deleted.');
    throw error;
  }
}

/** Returns the decrypted PKCE verifier. Null for a flow without PKCE. */
export function openCodeVerifier(
  { vault }: Pick<Services, 'vault'>,
  { id, projectId, codeVerifierSealed }: Tables['OAuthConnect'],
): string | null {
  return (
    codeVerifierSealed && vault.open(codeVerifierSealed, toCodeVerifierLocation(id, projectId))
  );
}

function toCodeVerifierLocation(row: string, projectId: string): SealedLocation {
  return { table: 'OAuthConnect', column: 'codeVerifierSealed', row, projectId };
}

function toStoredInput(input: OAuthFlowInput, { scopes }: OAuthFlowSetup): Prisma.InputJsonObject {
  const storedMembers = Object.fromEntries(STORED_MEMBERS.map((field) => [field, input[field]]));
  return { ...storedMembers, scopes } as Prisma.InputJsonObject;
}

/** Deletes expired OAuth flows of the project. Throws RATE_LIMITED if too many remain. */
async function requireCapacity({ database, now }: RowServices, projectId: string): Promise<void> {
  const { oAuthConnect } = database.prisma;
  await oAuthConnect.deleteMany({ where: { projectId, expireTime: { lte: now() } } });
  const pendingCount = await oAuthConnect.count({ where: { projectId } });
  if (pendingCount < PENDING_MAX) return;
  throw rateLimited(
    'The project has too many pending OAuth flows. Try again after Retry-After.',
    LIFETIME_MS / 1_000,
  );
}
