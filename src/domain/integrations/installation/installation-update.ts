/** Updates an installation: changes its connection, replaces its config, or derives a config from the current one. */

import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../../database/transactions/transaction.ts';
import type { Issue } from '../../../kernel/errors.ts';
import type { Call, ProjectCall, RowCall } from '../../access/call.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { getProjectRow } from '../../access/scope.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { requireNoIssues } from '../../base/issues.ts';
import { parseInput } from '../../base/parse-input.ts';
import { lockContent } from '../integration/integration.ts';
import {
  type IntegrationContent,
  readIntegrationContent,
} from '../integration/integration-content.ts';
import { loadLatestRevisions } from '../integration/revision.ts';
import { listIssuesAtAccount } from './check/account-check.ts';
import { type CurrentChoices, refuseForeignChoices } from './check/end-user-check.ts';
import { listConfigIssues, listModuleIssues } from './check/installation-config-check.ts';
import {
  type ConfigInput,
  installationConfigInput,
  type ParsedConfig,
} from './choice/installation-config-input.ts';
import { type ConfigContent, readConfigContent } from './installation-config.ts';
import { resolveObjectAliases, updateInstallationInput } from './installation-input.ts';
import { chooseConnection, requireParties } from './installation-parties.ts';
import { changeInstallation, lockInstallation } from './installation-rows.ts';

type Installation = Row<'Installation'>;

/** Replaces the members in the input. Absent members keep their values. */
export const updateInstallation = projectMutation({
  description: 'Changes the connection or the config of an installation.',
  needs: orEndUser('installations:write', 'INSTALL'),
  input: updateInstallationInput,
  run: (call, { config, ...changes }, { id: projectId }) =>
    applyChanges(call, { ...changes, projectId }, async () => config),
});

/** Returns the new config of an installation. Called before the transaction, and again when the row is locked. */
type ReviseConfig = (current: ConfigContent) => ConfigInput;

/** Replaces the config with one that `revise` derives from the current config. */
export const reviseInstallation = projectMutation({
  description: updateInstallation.description,
  needs: updateInstallation.needs,
  input: updateInstallationInput
    .omit({ config: true })
    .extend({ revise: z.custom<ReviseConfig>() }),
  run: (call, { revise, ...changes }, { id: projectId }) =>
    applyChanges(call, { ...changes, projectId }, async (tx, installation) =>
      parseConfig(revise(await readCurrentConfig(tx, installation))),
    ),
});

const configSchema = z.object({ config: installationConfigInput });

/** Parses a config. Throws BAD_USER_INPUT with an issue for each invalid member. */
function parseConfig(config: ConfigInput): ParsedConfig {
  return parseInput(configSchema, { config }).config;
}

/** Computes the new config. Undefined keeps the current one. */
type ComputeConfig = (
  tx: Pick<Transaction, 'installationConfig'>,
  installation: Installation,
) => Promise<ParsedConfig | undefined>;

type Changes = Omit<z.output<typeof updateInstallationInput>, 'config' | 'projectIdOrName'>;

async function applyChanges(
  call: ProjectCall,
  { projectId, installationId, ...changes }: Changes & { projectId: string },
  computeConfig: ComputeConfig,
): Promise<Installation> {
  const key = { projectId, id: installationId };
  const noun = 'Installation';
  const storedInstallation = await getProjectRow(call, 'Installation', { ...key, noun });
  const [revision] = await loadLatestRevisions(call, [storedInstallation.integrationId]);
  const latestContent = revision ? readIntegrationContent(revision) : null;
  const requestedConfig = await computeConfig(call.database.prisma, storedInstallation);
  const choices = {
    ...changes,
    config: resolveObjectAliases(call, requestedConfig, latestContent),
  };
  const currentChoices = await findCurrentChoices(call, storedInstallation, latestContent);
  await refuseForeignChoices(call, { id: projectId }, { choices, current: currentChoices });
  const accountIssues = latestContent
    ? await listAccountIssues(call, storedInstallation, { ...choices, content: latestContent })
    : [];
  return inTransaction(call.database, async (tx) => {
    const content = await lockContent(tx, { id: storedInstallation.integrationId, projectId });
    const installation = await lockInstallation(tx, key);
    const lockedConfig = await computeConfig(tx, installation);
    const config = resolveObjectAliases(call, lockedConfig, content) ?? null;
    const { groupId } = installation;
    const connection = await chooseConnection(tx, {
      projectId,
      groupId,
      connectionId: changes.connectionId ?? installation.connectionId,
      provider: content.provider,
    });
    const hasNewConnection = connection.connectionId !== installation.connectionId;
    requireNoIssues([
      ...connection.issues,
      ...accountIssues,
      ...(hasNewConnection
        ? await listModuleIssues({ ...call, tx }, content, { ...connection, projectId })
        : []),
      ...(await listConfigIssues({ ...call, tx }, config, { projectId, content })),
    ]);
    const createdBy = changes.configCreatedBy ?? null;
    const { connectionId } = requireParties({ ...connection, groupId });
    if (!config && createdBy === null && !hasNewConnection) return installation;
    const change = { installation, connectionId, content, config, createdBy };
    return changeInstallation(call, tx, change);
  });
}

/** Returns the choices that an end user's changes are compared with. Null for other callers. */
async function findCurrentChoices(
  call: RowCall,
  installation: Installation,
  content: IntegrationContent | null,
): Promise<CurrentChoices | null> {
  if (call.viewer.kind !== 'END_USER') return null;
  return { config: await readCurrentConfig(call.database.prisma, installation), content };
}

async function readCurrentConfig(
  tx: Pick<Transaction, 'installationConfig'>,
  { projectId, configId: id }: Pick<Installation, 'projectId' | 'configId'>,
): Promise<ConfigContent> {
  const where = { projectId_id: { projectId, id } };
  return readConfigContent(await tx.installationConfig.findUniqueOrThrow({ where }));
}

interface UpdateChoices extends Pick<Changes, 'connectionId' | 'skipSampling'> {
  content: IntegrationContent;
  config: ParsedConfig | undefined;
}

/**
 * Returns an issue for each object and field of the new config that the account lacks. Without a new config, checks the
 * current config if the connection changes.
 */
async function listAccountIssues(
  call: Call,
  installation: Installation,
  { content, config, skipSampling, ...changes }: UpdateChoices,
): Promise<Issue[]> {
  if (skipSampling) return [];
  const connectionId = changes.connectionId ?? installation.connectionId;
  const account = { projectId: installation.projectId, connectionId };
  if (config) {
    return listIssuesAtAccount(call, account, { content, config, path: ['config'] });
  }
  if (connectionId === installation.connectionId) return [];
  const currentConfig = await readCurrentConfig(call.database.prisma, installation);
  const path = ['connectionId'];
  const choices = { content, config: currentConfig, path, isStored: true };
  return listIssuesAtAccount(call, account, choices);
}
