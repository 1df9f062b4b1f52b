/** Updates an installation: another connection, a new config, or a revision of its current config. */
import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import { type Issue, invalidInput } from '../../errors.ts';
import type { Call } from '../call.ts';
import { projectMutation } from '../declared-mutation.ts';
import { lockContent } from '../integration/integration.ts';
import { readIntegrationContent } from '../integration/integration-content.ts';
import { findLatestRevisions } from '../integration/revision.ts';
import { requireNoIssues, toIssues } from '../issues.ts';
import { getOwned } from '../scope.ts';
import { orEndUser } from '../viewer/needs.ts';
import { listIssuesAtAccount } from './check/account-check.ts';
import { type PresentChoices, refuseForeignChoices } from './check/end-user-check.ts';
import { listConfigIssues } from './check/installation-config-check.ts';
import { listModuleIssues } from './check/module-check.ts';
import {
  type ConfigContent,
  type ConfigInput,
  installationConfigInput,
  type ParsedConfig,
  readConfigContent,
} from './installation-config.ts';
import { updateInstallationInput } from './installation-input.ts';
import { chooseConnection, requireParties } from './installation-parties.ts';
import { changeInstallation, lockInstallation } from './installation-rows.ts';
import { resolveObjectAliases } from './resolve-object-aliases.ts';

type Installation = Row<'Installation'>;

/** Replaces the members in the input. Absent members stay as they are. */
export const updateInstallation = projectMutation({
  description: 'Changes the connection or the config of an installation.',
  needs: orEndUser('installations:write', 'INSTALL'),
  input: updateInstallationInput,
  run: (call, { config, ...changes }, { id: projectId }) =>
    update(call, { ...changes, projectId }, async () => config),
});

/** Returns the new config of an installation. It is called before the transaction and again in it. */
type ReviseConfig = (current: ConfigContent) => ConfigInput;

/** An update whose new config is derived from the current one. The current config cannot change in between. */
export const reviseInstallation = projectMutation({
  description: updateInstallation.description,
  needs: updateInstallation.needs,
  input: updateInstallationInput
    .omit({ config: true })
    .extend({ revise: z.custom<ReviseConfig>() }),
  run: (call, { revise, ...changes }, { id: projectId }) =>
    update(call, { ...changes, projectId }, async (tx, installation) =>
      parseConfig(revise(await readCurrentConfig(tx, installation))),
    ),
});

const withConfig = z.object({ input: z.object({ config: installationConfigInput }) });

/** Parses a config. Throws BAD_USER_INPUT with an issue for each invalid member. */
function parseConfig(config: ConfigInput): ParsedConfig {
  const input = { input: { config } };
  const { data, error } = withConfig.safeParse(input);
  if (error) throw invalidInput(toIssues(error, input));
  return data.input.config;
}

/** Returns the new config. Undefined if the current one stays. */
type CreateConfig = (
  tx: Pick<Transaction, 'installationConfig'>,
  installation: Installation,
) => Promise<ParsedConfig | undefined>;

type Changes = Omit<z.output<typeof updateInstallationInput>, 'config' | 'projectIdOrName'>;

async function update(
  call: Call,
  { projectId, installationId, ...changes }: Changes & { projectId: string },
  createConfig: CreateConfig,
): Promise<Installation> {
  const key = { projectId, id: installationId };
  const storedInstallation = await getOwned(call, 'Installation', { ...key, what: 'Installation' });
  const [revision] = await findLatestRevisions(call, [storedInstallation.integrationId]);
  const latest = revision ? readIntegrationContent(revision) : null;
  const requestedConfig = await createConfig(call.database.prisma, storedInstallation);
  const choices = { ...changes, config: resolveObjectAliases(call, requestedConfig, latest) };
  const present = await findPresentChoices(call, storedInstallation);
  await refuseForeignChoices(call, { id: projectId }, { choices, present });
  const missing = await listMissingAtAccount(call, storedInstallation, choices);
  return inTransaction(call.database, async (tx) => {
    const content = await lockContent(tx, { id: storedInstallation.integrationId, projectId });
    const installation = await lockInstallation(tx, key);
    const lockedConfig = await createConfig(tx, installation);
    const config = resolveObjectAliases(call, lockedConfig, content) ?? null;
    const { groupId, connectionId: currentId } = installation;
    const requestedId = changes.connectionId ?? currentId;
    const connection = await chooseConnection(tx, {
      projectId,
      groupId,
      connectionId: requestedId,
      provider: content.provider,
    });
    const isMoved = connection.connectionId !== currentId;
    requireNoIssues([
      ...connection.issues,
      ...missing,
      ...(isMoved
        ? await listModuleIssues({ ...call, tx }, content, { ...connection, projectId })
        : []),
      ...(await listConfigIssues({ ...call, tx }, config, { projectId, content })),
    ]);
    const { configCreatedBy: createdBy = null } = changes;
    const { connectionId } = requireParties({ ...connection, groupId });
    if (!config && createdBy === null && connectionId === currentId) return installation;
    const change = { installation, connectionId, content, config, createdBy };
    return changeInstallation(call, tx, change);
  });
}

/** Returns the choices that an end user's changes are compared with. Null for other callers. */
async function findPresentChoices(
  call: Call,
  installation: Installation,
): Promise<PresentChoices | null> {
  if (call.viewer.kind !== 'END_USER') return null;
  const [config, [revision]] = await Promise.all([
    readCurrentConfig(call.database.prisma, installation),
    findLatestRevisions(call, [installation.integrationId]),
  ]);
  return { config, content: revision ? readIntegrationContent(revision) : null };
}

async function readCurrentConfig(
  tx: Pick<Transaction, 'installationConfig'>,
  { projectId, configId: id }: Pick<Installation, 'projectId' | 'configId'>,
): Promise<ConfigContent> {
  const where = { projectId_id: { projectId, id } };
  return readConfigContent(await tx.installationConfig.findUniqueOrThrow({ where }));
}

/**
 * Returns an issue for each object and field of the new config (or of the current one, for a new account)
 * that the account lacks.
 */
async function listMissingAtAccount(
  call: Call,
  installation: Installation,
  {
    config,
    connectionId: requestedId,
    skipSampling,
  }: Pick<Changes, 'connectionId' | 'skipSampling'> & { config: ParsedConfig | undefined },
): Promise<Issue[]> {
  if (skipSampling) return [];
  const { projectId, integrationId, connectionId: currentId } = installation;
  const connectionId = requestedId ?? currentId;
  if (!config && connectionId === currentId) return [];
  const [revision] = await findLatestRevisions(call, [integrationId]);
  if (!revision) return [];
  const content = readIntegrationContent(revision);
  if (config) {
    const choices = { content, config, path: ['input', 'config'] };
    return listIssuesAtAccount(call, { projectId, connectionId }, choices);
  }
  const currentConfig = await readCurrentConfig(call.database.prisma, installation);
  const path = ['input', 'connectionId'];
  const choices = { content, config: currentConfig, path, isStored: true };
  return listIssuesAtAccount(call, { projectId, connectionId }, choices);
}
