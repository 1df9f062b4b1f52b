/** Changes of an installation: another connection, another config, or the present config with changes in it. */
import type { Row } from '../../database/rows.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import type { Issue } from '../../errors.ts';
import type { Call } from '../call.ts';
import { openProjectMutation } from '../declared-mutation.ts';
import { holdContent } from '../integration/integration.ts';
import { contentOf } from '../integration/integration-content.ts';
import { latestRevisions } from '../integration/revision.ts';
import { type OpenedInput, openInput } from '../opened-input.ts';
import { getOwned } from '../scope.ts';
import { orEndUser } from '../viewer/needs.ts';
import { listIssuesAtAccount } from './check/account-check.ts';
import { type PresentChoices, refuseForeignChoices } from './check/end-user-check.ts';
import { listConfigIssues } from './check/installation-config-check.ts';
import { listModuleIssues } from './check/module-check.ts';
import { type ConfigContent, type ConfigInput, configOf } from './installation-config.ts';
import { chooseConnection, sureEnds } from './installation-connection.ts';
import { updateInstallationInput } from './installation-input.ts';
import { changeInstallation, holdInstallation } from './installation-rows.ts';
import { withOwnChoices } from './own-choices.ts';

type Installation = Row<'Installation'>;

/** What is given replaces what was there; nothing given changes nothing. */
export const updateInstallation = openProjectMutation({
  needs: orEndUser('installations:write', 'INSTALL'),
  input: updateInstallationInput,
  run: (call, opened, { id: projectId }) =>
    update(call, { projectId, id: opened.given.installationId }, async () => opened),
});

/** The same with a config that is made from the present one, which nobody changes meanwhile. */
export function updateOfPresentConfig(revise: (present: ConfigContent) => ConfigInput) {
  return openProjectMutation({
    needs: orEndUser('installations:write', 'INSTALL'),
    input: updateInstallationInput.omit({ config: true }),
    run: (call, { given }, { id: projectId }) =>
      update(call, { projectId, id: given.installationId }, async (tx, installation) => {
        const config = revise(await presentConfig(tx, installation));
        return openInput(updateInstallationInput, { ...given, config });
      }),
  });
}

type OpenUpdate = (
  tx: Pick<Transaction, 'installationConfig'>,
  installation: Installation,
) => Promise<OpenedInput<typeof updateInstallationInput>>;

async function update(
  call: Call,
  key: { projectId: string; id: string },
  open: OpenUpdate,
): Promise<Installation> {
  const { projectId } = key;
  const found = await getOwned(call, 'Installation', { ...key, what: 'Installation' });
  const [revision] = await latestRevisions(call, [found.integrationId]);
  const latest = revision ? contentOf(revision) : null;
  const early = withOwnChoices(call, await open(call.database.prisma, found), latest);
  const present = await findPresentChoices(call, found);
  await refuseForeignChoices(call, { id: projectId }, { opened: early, present });
  const missing = await listMissingAtAccount(call, found, early);
  return inTransaction(call.database, async (tx) => {
    const content = await holdContent(tx, { id: found.integrationId, projectId });
    const installation = await holdInstallation(tx, key);
    const opened = withOwnChoices(call, await open(tx, installation), content);
    const { given } = opened;
    const { groupId, connectionId: current } = installation;
    const wanted = { projectId, groupId, connectionId: given.connectionId ?? current };
    const chosen = await chooseConnection(tx, { ...wanted, provider: content.provider });
    opened.add([...chosen.issues, ...missing]);
    if (chosen.connectionId !== current) {
      opened.add(await listModuleIssues({ ...call, tx }, content, { ...chosen, projectId }));
    }
    const issues = await listConfigIssues({ ...call, tx }, given.config, { projectId, content });
    const { config = null, configCreatedBy: createdBy = null } = opened.parsed(issues);
    const { connectionId } = sureEnds({ ...chosen, groupId });
    if (!config && createdBy === null && connectionId === current) return installation;
    const change = { installation, connectionId, content, config, createdBy };
    return changeInstallation(call, tx, change);
  });
}

/** What an end user's changes are compared with; null for other callers. */
async function findPresentChoices(
  call: Call,
  installation: Installation,
): Promise<PresentChoices | null> {
  if (call.viewer.kind !== 'END_USER') return null;
  const [config, [revision]] = await Promise.all([
    presentConfig(call.database.prisma, installation),
    latestRevisions(call, [installation.integrationId]),
  ]);
  return { config, content: revision ? contentOf(revision) : null };
}

async function presentConfig(
  tx: Pick<Transaction, 'installationConfig'>,
  { projectId, configId: id }: Pick<Installation, 'projectId' | 'configId'>,
): Promise<ConfigContent> {
  const where = { projectId_id: { projectId, id } };
  return configOf(await tx.installationConfig.findUniqueOrThrow({ where }));
}

/** Of a new config, and of the present one if it gets another account. */
async function listMissingAtAccount(
  call: Call,
  installation: Installation,
  { given, issues }: OpenedInput<typeof updateInstallationInput>,
): Promise<Issue[]> {
  const { projectId, integrationId, connectionId: current } = installation;
  const { config, connectionId = current, skipSampling } = given;
  if (issues.length > 0 || skipSampling) return [];
  if (!config && connectionId === current) return [];
  const [revision] = await latestRevisions(call, [integrationId]);
  if (!revision) return [];
  const content = contentOf(revision);
  if (config) {
    const choices = { content, config, path: ['input', 'config'] };
    return listIssuesAtAccount(call, { projectId, connectionId }, choices);
  }
  const present = await presentConfig(call.database.prisma, installation);
  const path = ['input', 'connectionId'];
  const choices = { content, config: present, path, isPresent: true };
  return listIssuesAtAccount(call, { projectId, connectionId }, choices);
}
