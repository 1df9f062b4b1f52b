/** Reports the installations that a plan breaks, and findings that prevent the plan or need attention. */
import { member, text } from '../../kernel/text.ts';
import type { ProjectCall, RowServices } from '../access/call.ts';
import { listDestinationSecrets } from '../events/document/destination-document.ts';
import type { Impact, Impacts } from '../integrations/installation/check/impacts.ts';
import {
  checkAccounts,
  findImpacts,
  findImpactsOnAll,
} from '../integrations/installation/check/revision-impacts.ts';
import { describeReadsOfObjects } from '../integrations/installation/installed-object-revision.ts';
import { DELETION_BATCH_SIZE } from '../integrations/integration/integration-deletion.ts';
import {
  parseItemContent,
  type StoredIntegration,
} from '../integrations/integration/integration-document.ts';
import { describeDroppedReads, listDroppedObjects } from '../integrations/integration/revision.ts';
import type { DesiredState } from './desired-state.ts';
import type { Finding } from './findings.ts';
import { formatPaths } from './items.ts';
import {
  type DocumentComparison,
  mapDestinationsToIntegrations,
  type PlanChange,
} from './plan-changes.ts';
import { type PlannedProviders, reportProviders } from './planned-providers.ts';
import type { ProjectState } from './project-state.ts';

const ALLOW_DELETIONS = member('allowDeletions');

interface PlanReport {
  impacts: Impact[];
  findings: Finding[];
}

/** The maximum number of omitted items that a finding names. A document of one integration may omit hundreds. */
const NAMED_ITEMS_MAX = 3;

interface PlanContext {
  state: ProjectState;
  desiredState: DesiredState;
  comparison: DocumentComparison;
  providers: PlannedProviders;
}

/** Creates the report of a plan. Queries accounts for the fields that a changed integration requires. */
export async function createReport(call: ProjectCall, context: PlanContext): Promise<PlanReport> {
  const { state, comparison, providers, desiredState } = context;
  const { allowDeletions } = desiredState;
  const { changes } = comparison;
  const providerPlan = { state, allowDeletions, changes, providers };
  const { impacts, findings } = await reportProviders(call, providerPlan);
  const report: PlanReport = {
    impacts,
    findings: [
      ...findings,
      ...listSurplusFindings(context),
      ...listAppFindings(context),
      ...(await listDestinationFindings(call, context)),
    ],
  };
  let deletedInstallations = 0;
  for (const change of changes) {
    const storedIntegration = state.integrations.get(String(change.before?.name));
    if (change.kind !== 'INTEGRATION' || !storedIntegration) continue;
    if (change.action === 'DELETE') {
      const impacts = await findDeletionImpacts(call, storedIntegration);
      deletedInstallations += impacts.installationTotal;
      report.impacts.push(...impacts.list());
    } else {
      await addRevisionReport(call, report, { context, change, storedIntegration });
    }
  }
  if (deletedInstallations > DELETION_BATCH_SIZE) {
    const message = `The plan deletes integrations with ${deletedInstallations} installations, and one plan deletes at most ${DELETION_BATCH_SIZE}. Use \`deleteIntegration\`, then plan again.`;
    report.findings.push({ severity: 'ERROR', path: 'integrations', message });
  }
  return report;
}

/** Adds the impacts and findings of a new revision to the report. */
async function addRevisionReport(
  call: ProjectCall,
  report: PlanReport,
  {
    context,
    change,
    storedIntegration,
  }: { context: PlanContext; change: PlanChange; storedIntegration: StoredIntegration },
): Promise<void> {
  const { projectId } = context.state;
  const { id: integrationId, name: integrationName, content: before } = storedIntegration;
  const content = parseItemContent(change.after);
  const revision = { projectId, integrationId, integrationName, before, after: content };
  const { prisma } = call.database;
  const { catalog, changedProviders } = context.providers;
  const catalogs = { catalog, catalogBefore: call.catalog };
  const { impacts, uncheckedAccounts } = await findImpacts(catalogs, prisma, revision);
  // A document that is not stored yet must not send requests to accounts.
  const skippedCount = changedProviders.has(content.provider)
    ? uncheckedAccounts.length
    : await checkAccounts(call, content, { impacts, uncheckedAccounts });
  report.impacts.push(...impacts.list());
  const { path } = change;
  if (skippedCount > 0) {
    const message = `${skippedCount} of ${impacts.installationTotal} accounts were not checked for the fields that become required.`;
    report.findings.push({ severity: 'WARNING', path, message });
  }
  const droppedObjects = context.desiredState.allowDeletions ? [] : listDroppedObjects(revision);
  if (droppedObjects.length === 0) return;
  const key = { projectId, integrationId };
  const reads = await describeReadsOfObjects(prisma, key, droppedObjects);
  if (reads.length === 0) return;
  const message = text`${describeDroppedReads(reads)} With ${ALLOW_DELETIONS}, their reads are paused.`;
  report.findings.push({ severity: 'ERROR', path, message });
}

function findDeletionImpacts(
  { database }: RowServices,
  { projectId, id: integrationId, name: integrationName }: StoredIntegration,
): Promise<Impacts> {
  const reason = 'The installation is deleted with its integration.';
  return findImpactsOnAll(database.prisma, { projectId, integrationId, integrationName }, [reason]);
}

function listSurplusFindings({ desiredState, comparison }: PlanContext): Finding[] {
  const { surplusPaths } = comparison;
  if (desiredState.allowDeletions || surplusPaths.length === 0) return [];
  const paths = formatPaths(surplusPaths, NAMED_ITEMS_MAX);
  const [verb, items] = surplusPaths.length === 1 ? ['stays', 'it'] : ['stay', 'them'];
  const message = text`The document omits ${paths}, which ${verb} unchanged. Use ${ALLOW_DELETIONS} to delete ${items}.`;
  return [{ severity: 'WARNING', path: '', message }];
}

function listAppFindings({ desiredState: { document }, state }: PlanContext): Finding[] {
  const hasApp = ({ provider, name }: { provider: string; name: string }) =>
    state.document.providerApps.some((app) => app.provider === provider && app.name === name);
  return (document.providerApps ?? [])
    .filter((app) => !hasApp(app))
    .map(({ provider, name }) => ({
      severity: 'WARNING',
      path: `providerApps.${name}`,
      message: text`The project has no provider app ${name} for ${provider}. Create it with \`createProviderApp\`, or replace its name with ${member('renames')}.`,
    }));
}

/** Reports destinations that can't be deleted, because integrations or installations still name them. */
async function listDestinationFindings(
  { database }: RowServices,
  { state, comparison: { changes } }: PlanContext,
): Promise<Finding[]> {
  const deletedNames = changes.flatMap(({ kind, action, before }) =>
    kind === 'DESTINATION' && action === 'DELETE' ? String(before?.name) : [],
  );
  if (deletedNames.length === 0) return [];
  const referrers = mapDestinationsToIntegrations(state, changes);
  const uses = await database.prisma.destinationUse.findMany({
    where: {
      projectId: state.projectId,
      destinationName: { in: deletedNames },
      installationId: { not: null },
    },
    select: {
      destinationName: true,
      installation: {
        select: { integration: { select: { name: true } }, group: { select: { groupRef: true } } },
      },
    },
    distinct: ['destinationName'],
  });
  for (const { destinationName, installation } of uses) {
    if (!installation) continue;
    const { integration, group } = installation;
    referrers.set(destinationName, `the installation of ${integration.name} for ${group.groupRef}`);
  }
  return deletedNames.flatMap((name) => {
    const referrer = referrers.get(name);
    if (referrer === undefined) return [];
    const message = `The destination can't be deleted, because ${referrer} names it.`;
    return { severity: 'ERROR', path: `destinations.${name}`, message };
  });
}

/** Lists the paths of the secrets that the project lacks. */
export function listRequiredSecrets(changes: readonly PlanChange[]): string[] {
  return changes.flatMap((change) =>
    change.kind === 'DESTINATION' ? listDestinationSecrets(change) : [],
  );
}

/** Lists the paths of the items that have changed since the plan was computed. */
export function listChangedPaths(
  baseHashes: Record<string, string>,
  currentHashes: Record<string, string>,
): string[] {
  return [...new Set([...Object.keys(baseHashes), ...Object.keys(currentHashes)])]
    .filter((path) => baseHashes[path] !== currentHashes[path])
    .sort();
}
