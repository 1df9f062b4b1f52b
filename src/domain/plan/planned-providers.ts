/** The custom providers that a project has after a document is applied, and what their changes break. */
import type { Issue } from '../../kernel/errors.ts';
import { member, type Text, text } from '../../kernel/text.ts';
import type { Provider } from '../../providers/contract.ts';
import type { ProjectCall, RowServices } from '../access/call.ts';
import { type Catalog, type InProject, replaceProviders } from '../access/catalog.ts';
import { createInputIssue } from '../base/issues.ts';
import {
  CUSTOM_PROVIDERS_MAX,
  describeSuspended,
  describeUses,
  findUsableProvider,
} from '../integrations/custom-provider/custom-provider.ts';
import { compileItem } from '../integrations/custom-provider/custom-provider-document.ts';
import { findProviderImpacts } from '../integrations/custom-provider/provider-impacts.ts';
import type { Impact } from '../integrations/installation/check/impacts.ts';
import type { DesiredState } from './desired-state.ts';
import type { Finding } from './findings.ts';
import type { PlanChange } from './plan-changes.ts';
import type { ProjectState } from './project-state.ts';

export interface PlannedProviders {
  /** The catalog that the project has after the document is applied. */
  catalog: Catalog;
  /** The providers with a new or changed document, by name. */
  changedProviders: ReadonlyMap<string, Provider>;
  issues: Issue[];
}

/** Compiles the documents that differ from the stored ones. */
export async function planProviders(
  call: Pick<ProjectCall, 'catalog' | 'manifests'>,
  { document: { customProviders }, allowDeletions }: DesiredState,
  { customProviders: stored, projectId }: ProjectState,
): Promise<PlannedProviders> {
  const items = customProviders ?? [];
  const changedProviders = new Map<string, Provider>();
  const issues: Issue[] = [];
  for (const [index, item] of items.entries()) {
    if (stored.get(item.name)?.document === item.document) continue;
    const compiled = await compileItem(call, item, { projectId, path: ['customProviders', index] });
    if ('issues' in compiled) issues.push(...compiled.issues);
    else changedProviders.set(item.name, compiled.provider);
  }
  const names = new Set(items.map(({ name }) => name));
  const surplusNames = [...stored.keys()].filter((name) => !names.has(name));
  const deletedNames = customProviders && allowDeletions ? surplusNames : [];
  if (names.size + surplusNames.length - deletedNames.length > CUSTOM_PROVIDERS_MAX) {
    const detail = `must leave the project with at most ${CUSTOM_PROVIDERS_MAX} custom providers.`;
    issues.push(createInputIssue(['customProviders'], detail));
  }
  return {
    catalog: replaceProviders(call.catalog, [...changedProviders.values()], deletedNames),
    changedProviders,
    issues,
  };
}

interface ProvidersToReport {
  state: ProjectState;
  allowDeletions: boolean;
  changes: readonly PlanChange[];
  providers: PlannedProviders;
}

/** Reports what changed custom providers break, as `updateProvider` does, and which deleted ones are still used. */
export async function reportProviders(
  { database: { prisma } }: InProject<RowServices>,
  { state, allowDeletions, changes, providers }: ProvidersToReport,
): Promise<{ impacts: Impact[]; findings: Finding[] }> {
  const { projectId } = state;
  const integrationChanges = changes.filter(({ kind }) => kind === 'INTEGRATION');
  const changedIntegrations = new Set(integrationChanges.map(getName));
  const deletedIntegrations = integrationChanges.filter(isDeletion).map(getName);
  const impacts: Impact[] = [];
  const findings: Finding[] = [];
  for (const change of changes) {
    if (change.kind !== 'CUSTOM_PROVIDER') continue;
    const name = getName(change);
    const [after, stored] = [providers.changedProviders.get(name), state.customProviders.get(name)];
    if (isDeletion(change)) {
      const uses = await describeUses(prisma, { projectId, provider: name }, deletedIntegrations);
      if (uses !== null) findings.push({ severity: 'ERROR', path: change.path, message: uses });
    } else if (after && stored) {
      const before = findUsableProvider(stored);
      const found = await findProviderImpacts(prisma, {
        projectId,
        before,
        after,
        changedIntegrations,
      });
      impacts.push(...found.impacts);
      const { suspendedConnections: count, brokenIntegrations } = found;
      const reasons = [...(count > 0 ? [describeSuspended(count)] : []), ...brokenIntegrations];
      findings.push(...reasons.map((reason) => toFinding(change.path, reason, allowDeletions)));
    }
  }
  return { impacts, findings };
}

function toFinding(path: string, reason: Text, allowDeletions: boolean): Finding {
  if (allowDeletions) return { severity: 'WARNING', path, message: reason };
  const message = text`${reason} With ${member('allowDeletions')}, the document is replaced.`;
  return { severity: 'ERROR', path, message };
}

function getName({ before, after }: PlanChange): string {
  return String((before ?? after)?.name);
}

function isDeletion({ action }: PlanChange): boolean {
  return action === 'DELETE';
}
