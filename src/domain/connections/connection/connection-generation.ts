/** Creates connections from credentials. A consumer of a group has one connection to a provider. */
import type { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import type { Issue } from '../../../kernel/errors.ts';
import type { AuthScheme } from '../../../providers/contract.ts';
import type { RowCall, RowServices } from '../../access/call.ts';
import { type InProject, NOT_A_PROVIDER } from '../../access/catalog.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { createInputIssue, requireNoIssues } from '../../base/issues.ts';
import { runRecordingSetupFailures } from '../diagnosis/setup-failure.ts';
import { findPermittedProvider } from '../provider/provider.ts';
import { listWorkspaceIssues } from '../provider/provider-workspace.ts';
import { generateConnectionInput } from './connection-input.ts';
import { chooseScheme, type SchemeChoice } from './connection-scheme.ts';
import { parseCredentials } from './credential-input.ts';
import { refuseOtherParties } from './end-user-parties.ts';
import { type ConnectionRequest, putConnection } from './put-connection.ts';
import { findWorkspaceRef } from './session/account-address.ts';
import { type AccountToCheck, requireAcceptedCredentials } from './session/credential-check.ts';
import { listInputIssues } from './session/declared-inputs.ts';

type GenerationInput = z.output<typeof generateConnectionInput>;

export const generateConnection = projectMutation({
  description:
    'Creates a connection from credentials. If the group and consumer already have a connection to the provider, its credentials are replaced. If the provider rejects a key or password, the result is `UNPROCESSABLE` and nothing is stored. If the provider has no inexpensive check, times out or fails, the credentials are stored unchecked.',
  needs: orEndUser('connections:write', 'CONNECT'),
  input: generateConnectionInput,
  async run(call, input, { id: projectId }): Promise<Row<'Connection'>> {
    await refuseOtherParties(call, input);
    const { provider } = input;
    const setup = { projectId, provider, input: generateConnectionInput };
    const scheme = await runRecordingSetupFailures(call, setup, () =>
      getScheme(call, projectId, input),
    );
    const request = { projectId, scheme, input };
    const token = input.skipCheck
      ? undefined
      : await requireAcceptedCredentials(call, toAccount(call, request));
    const { credentialsSealed: _, ...connection } = await putConnection(call, {
      ...request,
      token,
    });
    return connection;
  },
});

function toAccount(
  { catalog }: InProject<RowServices>,
  { projectId, scheme, input }: ConnectionRequest,
): AccountToCheck {
  const { groupRef, consumerRef, providerMetadata } = input;
  const provider = catalog.find(input.provider);
  return {
    projectId,
    provider,
    credentials: parseCredentials({ authScheme: scheme, custom: provider?.custom }, input),
    providerWorkspaceRef: findWorkspaceRef(input),
    providerMetadata,
    limitKey: JSON.stringify([projectId, input.provider, groupRef, consumerRef]),
  };
}

/** Returns the scheme that fits the input. Throws BAD_USER_INPUT that names every issue. */
async function getScheme(
  call: InProject<RowCall>,
  projectId: string,
  input: GenerationInput,
): Promise<AuthScheme> {
  const { scheme, issues } = await checkScheme(call, projectId, input);
  requireNoIssues(issues);
  if (scheme === null) throw new Error('Bug: an input without a scheme has no issue.');
  return scheme;
}

/** Chooses the scheme that fits the input, and lists the issues of the input. */
async function checkScheme(
  call: InProject<RowCall>,
  projectId: string,
  input: GenerationInput,
): Promise<SchemeChoice> {
  const provider = await findPermittedProvider(call, input.provider);
  const appIssues = await listOptionalAppIssues(call, projectId, {
    ...input,
    provider: provider?.name ?? null,
  });
  if (!provider) {
    const unknownProvider = createInputIssue(['provider'], NOT_A_PROVIDER, input.provider);
    return { scheme: null, issues: [unknownProvider, ...appIssues] };
  }
  const { scheme, issues } = chooseScheme(provider, input);
  const workspaceIssues = listWorkspaceIssues(provider, findWorkspaceRef(input));
  return {
    scheme,
    issues: [...workspaceIssues, ...listInputIssues(provider, input), ...issues, ...appIssues],
  };
}

/**
 * Checks the provider app that the input names. Credentials need no app, so the input may omit it. An app matches any
 * provider if `provider` is null, because an unknown provider is already an issue.
 */
async function listOptionalAppIssues(
  { database }: RowServices,
  projectId: string,
  { providerAppId, provider }: Pick<GenerationInput, 'providerAppId'> & { provider: string | null },
): Promise<Issue[]> {
  if (providerAppId == null) return [];
  const [app] = await database.reads.find('ProviderApp', { projectId, id: providerAppId });
  if (app && (provider === null || app.provider === provider)) return [];
  const detail = app ? `belongs to ${app.provider}, not to ${provider}.` : 'does not exist.';
  return [createInputIssue(['providerAppId'], detail, providerAppId)];
}
