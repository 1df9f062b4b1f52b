/** Connecting in a browser: sends people to a provider's page of consent; oauth-callback.ts is their return. */
import { createHash, randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { Prisma } from '../../database/generated/client.ts';
import { isForeignKeyViolation } from '../../database/violations.ts';
import { invalidInput, rateLimited, unprocessable } from '../../errors.ts';
import type { SealedPlace } from '../../secrets.ts';
import type { Call, Services } from '../call.ts';
import { projectMutation } from '../declared-mutation.ts';
import { orEndUser } from '../viewer/needs.ts';
import { startOAuthConnectInput } from './connection-input.ts';
import { type ConnectPlan, planConnect } from './oauth-connect-check.ts';
import { listForeignParties } from './own-ends.ts';
import { fillAddress } from './session/account-address.ts';

export const CALLBACK_PATH = '/oauth/callback';
/** Time to log in, find the second factor and read the consent. */
const LIFETIME_MS = 10 * 60_000;
/** Connects of one project that wait for their people. */
const PENDING_MAX = 10_000;
const RANDOM_BYTES = 32;
/** What `randomBytes` gives as text: nothing else is looked up. */
const STATE = /^(?<projectId>prj_\w{26})\.[\w-]{43}$/;

export type ConnectInput = Omit<z.output<typeof startOAuthConnectInput>, 'projectIdOrName'>;

/** Who is to be connected, as the row keeps it until the person comes back. */
export type StoredConnect = Pick<ConnectInput, (typeof STORED)[number]> & { scopes: string[] };
const STORED = [
  'groupRef',
  'consumerRef',
  'groupName',
  'consumerName',
  'providerWorkspaceRef',
  'providerMetadata',
] as const;

export const startOAuthConnect = projectMutation({
  needs: orEndUser('connections:write', 'CONNECT'),
  input: startOAuthConnectInput,
  async run(call, input, { id }) {
    const foreign = await listForeignParties(call, input);
    if (foreign.length > 0) throw invalidInput(foreign);
    return beginConnect(call, id, input);
  },
});

export interface StartedConnect {
  authorizeUrl: string;
  expireTime: Date;
  /** Where people install the package of the app first, if the provider needs that. */
  packageInstallUrl: string | null;
}

/** The input was checked, or is made from a connection. */
export async function beginConnect(
  call: Call,
  projectId: string,
  input: ConnectInput,
): Promise<StartedConnect> {
  const plan = await planConnect(call, projectId, input);
  await makeRoom(call, projectId);
  const state = `${projectId}.${randomText()}`;
  const codeVerifier = plan.scheme === 'OAUTH2_AUTHORIZATION_CODE_PKCE' ? randomText() : null;
  const id = idOfState(state);
  const callbackUrl = call.publicUrl() + CALLBACK_PATH;
  const expireTime = new Date(call.now().getTime() + LIFETIME_MS);
  await insertConnect(call, {
    id,
    projectId,
    provider: plan.provider.name,
    providerAppId: plan.app.id,
    authScheme: plan.scheme,
    input: storedInput(input, plan),
    callbackUrl,
    redirectUrl: input.redirectUrl ?? null,
    codeVerifierSealed:
      codeVerifier && call.vault.seal(codeVerifier, codeVerifierPlace(id, projectId)),
    expireTime,
  });
  const { packageInstallUrl } = plan.app;
  const url = authorizeUrl(plan, { state, codeVerifier, callbackUrl });
  return { authorizeUrl: url, expireTime, packageInstallUrl };
}

/** Throws UNPROCESSABLE if the provider app has just been deleted. */
async function insertConnect(
  { database }: Call,
  data: Prisma.OAuthConnectUncheckedCreateInput,
): Promise<void> {
  try {
    await database.prisma.oAuthConnect.create({ data });
  } catch (error) {
    if (isForeignKeyViolation(error)) throw unprocessable('The provider app has been deleted.');
    throw error;
  }
}

/** The row of a state that has the form of one: it begins with its project, and only its hash is stored. */
export function findKeyOfState(state: string | null): { projectId: string; id: string } | null {
  const projectId = STATE.exec(state ?? '')?.groups?.projectId;
  return state !== null && projectId ? { projectId, id: idOfState(state) } : null;
}

export function codeVerifierPlace(row: string, projectId: string): SealedPlace {
  return { table: 'OAuthConnect', column: 'codeVerifierSealed', row, projectId };
}

function idOfState(state: string): string {
  return createHash('sha256').update(state).digest('hex');
}

function randomText(): string {
  return randomBytes(RANDOM_BYTES).toString('base64url');
}

function storedInput(input: ConnectInput, { scopes }: ConnectPlan): Prisma.InputJsonObject {
  const stored = Object.fromEntries(STORED.map((field) => [field, input[field]]));
  return { ...stored, scopes } as Prisma.InputJsonObject;
}

/** Deletes expired connects. Throws RATE_LIMITED if there are still too many. */
async function makeRoom({ database, now }: Services, projectId: string): Promise<void> {
  const { oAuthConnect } = database.prisma;
  await oAuthConnect.deleteMany({ where: { projectId, expireTime: { lte: now() } } });
  const pending = await oAuthConnect.count({ where: { projectId } });
  if (pending < PENDING_MAX) return;
  throw rateLimited(
    'Too many connects of the project have begun and not ended. Try again after Retry-After.',
    LIFETIME_MS / 1_000,
  );
}

interface Secrets {
  state: string;
  codeVerifier: string | null;
  callbackUrl: string;
}

function authorizeUrl(
  { authorizeTemplate, provider, app, account, scopes }: ConnectPlan,
  { state, codeVerifier, callbackUrl }: Secrets,
): string {
  const url = new URL(fillAddress(provider, authorizeTemplate, account));
  const extra = { ...provider.oauth2.authorizeParams, ...app.authQueryParams };
  const own = {
    response_type: 'code',
    client_id: app.clientId,
    redirect_uri: callbackUrl,
    ...(scopes.length > 0 && { scope: scopes.join(provider.oauth2.scopeSeparator ?? ' ') }),
    state,
    ...(codeVerifier !== null && {
      code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
      code_challenge_method: 'S256',
    }),
  };
  // Ours come last, so that extra parameters can't change where the person returns, or with what.
  for (const [name, value] of Object.entries({ ...extra, ...own })) {
    url.searchParams.delete(name);
    for (const one of [value].flat()) url.searchParams.append(name, one);
  }
  return url.href;
}
