/**
 * Finds the installations that a revision breaks: their stored config is valid for the current revision and
 * invalid for the new one, or their account lacks a field that the new one requires.
 */
import type { Row } from '../../../../database/statements/tables.ts';
import type { Transaction } from '../../../../database/transactions/transaction.ts';
import { DomainError, type Issue, ServiceUnavailable } from '../../../../kernel/errors.ts';
import {
  enumValue,
  findEnumName,
  formatPath,
  type Path,
  printText,
  type Text,
  text,
} from '../../../../kernel/text.ts';
import { withDeadline } from '../../../../work/deadline.ts';
import type { Catalog } from '../../../access/catalog.ts';
import { castJsonColumn } from '../../../base/storable-json.ts';
import { listErasedIds } from '../../../connections/connection/connection-of-group.ts';
import type { Waiter } from '../../../connections/provider/provider-wait.ts';
import type { KnownObjects } from '../../../data/schema-watch/schema-difference.ts';
import type { IntegrationContent, RevisionChange } from '../../integration/integration-content.ts';
import { type ConfigContent, readConfigContent } from '../installation-config.ts';
import { type ChosenNames, listIssuesOfNames, listMissingFieldIssues } from './account-check.ts';
import { Impacts } from './impacts.ts';
import { listConfigRuleIssues, listDestinationsOfConfig } from './installation-config-check.ts';

type Installation = Pick<Row<'Installation'>, 'id' | 'projectId' | 'groupId' | 'connectionId'>;

const BATCH_SIZE = 200;
/** The maximum number of accounts that one check queries in parallel. */
const PARALLEL_ACCOUNTS_MAX = 8;
/** The maximum number of accounts that one check queries. A check must fit into the time of a request. */
const CHECKED_ACCOUNTS_MAX = 100;
const CHECK_TIMEOUT_MS = 10_000;

interface CheckedCatalogs {
  catalog: Catalog;
  /** The catalog before the change. Default: the same. */
  catalogBefore?: Catalog;
}

/** An installation whose account has not been checked for the fields that become required. */
interface UncheckedAccount {
  installation: Installation;
  requirements: ChosenNames[];
}

/**
 * Finds the installations that a new content breaks. Queries no provider: it compares required fields with the fields that
 * schema watches have stored. Accounts without stored fields are returned for `checkAccounts`.
 */
export async function findImpacts(
  services: CheckedCatalogs,
  client: Pick<Transaction, 'erasure' | 'installation' | 'installationConfig' | 'schemaWatch'>,
  change: RevisionChange & { integrationName: string },
): Promise<{ impacts: Impacts; uncheckedAccounts: UncheckedAccount[] }> {
  const impacts = new Impacts(change.integrationName);
  const uncheckedAccounts: UncheckedAccount[] = [];
  const newRequirements = listNewRequirements(change);
  for await (const batch of iterateInstallations(client, change)) {
    const knownObjects =
      newRequirements.length > 0 ? await listKnownObjects(client, change.projectId, batch) : null;
    for (const { installation, config } of batch) {
      impacts.installationTotal += 1;
      for (const issue of listNewIssues(services, config, change)) {
        impacts.add(installation, { path: namePath(issue, config), reason: toReason(issue) });
      }
      const requirements: ChosenNames[] = [];
      for (const requirement of newRequirements) {
        if (!readsObject(config, requirement.objectName)) continue;
        const knownFields = knownObjects?.get(installation.id)?.[requirement.objectName];
        if (knownFields) {
          const issues = listMissingFieldIssues(requirement, Object.keys(knownFields));
          addMissingFields(impacts, installation, issues);
        } else {
          requirements.push(requirement);
        }
      }
      if (requirements.length > 0) uncheckedAccounts.push({ installation, requirements });
    }
  }
  return { impacts, uncheckedAccounts };
}

/** Adds each reason to all installations of an integration. */
export async function findImpactsOnAll(
  client: Pick<Transaction, 'erasure' | 'installation' | 'installationConfig'>,
  {
    integrationName,
    ...key
  }: Pick<RevisionChange, 'projectId' | 'integrationId'> & { integrationName: string },
  reasons: readonly Text[],
): Promise<Impacts> {
  const impacts = new Impacts(integrationName);
  for await (const batch of iterateInstallations(client, key)) {
    for (const { installation } of batch) {
      impacts.installationTotal += 1;
      for (const reason of reasons) impacts.add(installation, { path: [], reason });
    }
  }
  return impacts;
}

function readsObject({ read }: ConfigContent, name: string): boolean {
  return read.some(({ objectName, disabled }) => objectName === name && !disabled);
}

/**
 * Queries accounts for required fields, and adds the installations whose account lacks a field. Returns the number of
 * accounts that were not checked, because they exceed the limit or did not respond in time.
 */
export async function checkAccounts(
  services: Waiter,
  content: IntegrationContent,
  {
    impacts,
    uncheckedAccounts,
  }: { impacts: Impacts; uncheckedAccounts: readonly UncheckedAccount[] },
): Promise<number> {
  const queue = uncheckedAccounts.slice(0, CHECKED_ACCOUNTS_MAX).values();
  let checkedCount = 0;
  let hasTimedOut = false;
  const checkQueue = async (): Promise<void> => {
    for (const { installation, requirements } of queue) {
      if (hasTimedOut) return;
      try {
        const { projectId, connectionId } = installation;
        const account = { projectId, connectionId };
        const issues = await listIssuesOfNames(services, account, { content, names: requirements });
        if (hasTimedOut) return;
        checkedCount += 1;
        addMissingFields(impacts, installation, issues);
      } catch (error) {
        if (!isWaitRefused(error)) throw error;
      }
    }
  };
  const checks = Promise.all(Array.from({ length: PARALLEL_ACCOUNTS_MAX }, checkQueue));
  await withDeadline(checks, CHECK_TIMEOUT_MS, () => {
    hasTimedOut = true;
    return [];
  });
  return uncheckedAccounts.length - checkedCount;
}

/** True if too many requests wait for providers. The account stays unchecked. */
function isWaitRefused(error: unknown): boolean {
  return (
    error instanceof ServiceUnavailable ||
    (error instanceof DomainError && error.code === 'RATE_LIMITED')
  );
}

/** Lists the provider's fields that the new content requires and the previous content did not require, by object. */
function listNewRequirements({ before, after }: RevisionChange): ChosenNames[] {
  const previousObjects = new Map(
    before.read?.objects.map((object) => [object.objectName, object]),
  );
  return (after.read?.objects ?? []).flatMap(({ objectName, requiredFields }) => {
    const previousNames = new Set(
      previousObjects.get(objectName)?.requiredFields.map(({ fieldName }) => fieldName) ?? [],
    );
    const path = ['read', objectName, 'requiredFields'];
    const fields = requiredFields.flatMap(({ fieldName }) =>
      fieldName === null || previousNames.has(fieldName) ? [] : { name: fieldName, path },
    );
    return fields.length > 0 ? [{ objectName, path, fields }] : [];
  });
}

interface InstallationWithConfig {
  installation: Installation;
  config: ConfigContent;
}

/** Yields the installations of an integration in batches, without those of groups that are being erased. */
export async function* iterateInstallations(
  client: Pick<Transaction, 'erasure' | 'installation' | 'installationConfig'>,
  { projectId, integrationId }: Pick<RevisionChange, 'projectId' | 'integrationId'>,
): AsyncGenerator<InstallationWithConfig[]> {
  const erasedIds = await listErasedIds(client, projectId);
  let afterId = '';
  let count: number;
  do {
    const installations = await client.installation.findMany({
      where: { projectId, integrationId, id: { gt: afterId }, groupId: { notIn: erasedIds } },
      select: { id: true, projectId: true, groupId: true, connectionId: true, configId: true },
      orderBy: { id: 'asc' },
      take: BATCH_SIZE,
    });
    const configs = await client.installationConfig.findMany({
      where: { projectId, id: { in: installations.map(({ configId }) => configId) } },
    });
    const configsById = new Map(configs.map((config) => [config.id, readConfigContent(config)]));
    yield installations.flatMap(({ configId, ...installation }) => {
      // The config is absent if the installation was deleted in between.
      const config = configsById.get(configId);
      return config ? { installation, config } : [];
    });
    afterId = installations.at(-1)?.id ?? afterId;
    count = installations.length;
  } while (count === BATCH_SIZE);
}

/** Returns the fields that schema watches have stored, by installation. Fields of another account are omitted. */
async function listKnownObjects(
  client: Pick<Transaction, 'schemaWatch'>,
  projectId: string,
  batch: readonly InstallationWithConfig[],
): Promise<Map<string, KnownObjects>> {
  const connectionIdsByInstallation = new Map(
    batch.map(({ installation: { id, connectionId } }) => [id, connectionId]),
  );
  const watches = await client.schemaWatch.findMany({
    where: { projectId, installationId: { in: [...connectionIdsByInstallation.keys()] } },
  });
  return new Map(
    watches.flatMap(({ installationId, connectionId, knownFields }) =>
      connectionId === connectionIdsByInstallation.get(installationId)
        ? [[installationId, castJsonColumn<KnownObjects>(knownFields)] as const]
        : [],
    ),
  );
}

/** Lists the issues that a stored config has with the new content and not with the previous one. */
function listNewIssues(
  { catalog, catalogBefore = catalog }: CheckedCatalogs,
  config: ConfigContent,
  { before, after }: Pick<RevisionChange, 'before' | 'after'>,
): Issue[] {
  const destinations = new Set(listDestinationsOfConfig(config));
  const listIssuesWith = (content: IntegrationContent, { findWithModule }: Catalog) => {
    const provider = findWithModule(content.provider, content.module);
    return [...listConfigRuleIssues(config, { content, provider, destinations })];
  };
  const issues = listIssuesWith(after, catalog);
  if (issues.length === 0) return [];
  const toKey = ({ path, detail }: Issue) => `${formatPath(path)} ${printText(detail)}`;
  const previousKeys = new Set(listIssuesWith(before, catalogBefore).map(toKey));
  return issues.filter((issue) => !previousKeys.has(toKey(issue)));
}

function addMissingFields(
  impacts: Impacts,
  installation: Installation,
  issues: readonly Issue[],
): void {
  for (const issue of issues)
    impacts.add(installation, { path: issue.path, reason: toReason(issue) });
}

/**
 * Returns the path of the list or the member that an issue is about, with the name of the object in place of its index. The
 * path does not depend on the order of objects and items.
 */
function namePath({ path }: Issue, config: ConfigContent): Path {
  const [section, index, ...inner] = path[0] === 'config' ? path.slice(1) : path;
  const choices = config[section as keyof ConfigContent];
  const isChoice = typeof index === 'number' && Array.isArray(choices);
  const names = isChoice
    ? [section, choices[index]?.objectName, ...inner]
    : [section, index, ...inner];
  const itemAt = names.findIndex((key) => typeof key === 'number');
  const named = names.slice(0, itemAt < 0 ? undefined : itemAt);
  if (named.at(-1) === 'objectName') named.pop();
  return named.filter((key) => key !== undefined);
}

function toReason({ detail, value }: Issue): Text {
  if (typeof value !== 'string') return detail;
  // A text that names the allowed values of an enum is about a value of this enum.
  const enumName = findEnumName(detail);
  return text`${enumName === undefined ? value : enumValue(value, enumName)} ${detail}`;
}
