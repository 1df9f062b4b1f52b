/** Subscriptions of installations: the desired events of each object, and the state at the provider. */

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { acrossProjects, sweep } from '../../../database/statements/projects/all-projects.ts';
import { sqlStatement } from '../../../database/statements/statements.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../../database/transactions/transaction.ts';
import { notifySubscriptions } from '../../../events/channel.ts';
import { recordEvent } from '../../../events/record.ts';
import { pickSubject } from '../../../events/subject.ts';
import { printText, type Text } from '../../../kernel/text.ts';
import type { Provider } from '../../../providers/contract.ts';
import type { ProviderEventKind } from '../../../providers/subscribing.ts';
import type { ProjectServices, RowServices } from '../../access/call.ts';
import { describeMissingProvider } from '../../access/catalog.ts';
import { enumeration, resource } from '../../base/resource.ts';
import { printedColumn } from '../../base/stored-text.ts';
import { iterateInstallations } from '../../integrations/installation/check/revision-impacts.ts';
import type { ConfigContent } from '../../integrations/installation/installation-config.ts';
import { readInstallationFields } from '../../integrations/installation/installation-events.ts';
import {
  createInstallationBatch,
  REQUESTED_INSTALLATIONS,
} from '../../integrations/installation/rows-of-installations.ts';
import type {
  IntegrationContent,
  RevisionChange,
  SubscribeObject,
} from '../../integrations/integration/integration-content.ts';
import { createReadPlan } from '../operation/read/read-plan.ts';
import { applyConfig, listRecordKinds } from './event-kinds.ts';

export type ObjectSubscription = Row<'ObjectSubscription'>;
export type SubscriptionKey = Pick<
  ObjectSubscription,
  'projectId' | 'installationId' | 'objectName'
>;
type Installation = Pick<Row<'Installation'>, 'id' | 'projectId' | 'connectionId'>;

/** A subscription with the integration's settings for its object. */
export interface ObjectSubscriptionView extends ObjectSubscription {
  mappedObjectName: string | null;
  destinationId: string | null;
}

const subscriptionStatus = enumeration(
  'SubscriptionStatus',
  'Whether a subscription at a provider works.',
  {
    PENDING:
      'The gateway is setting it up, or a person has to set it up at the provider. No event has arrived yet.',
    ACTIVE: 'The provider sends its events.',
    FAILED: 'It could not be set up; `error` has the reason. The gateway retries it.',
    UNSUPPORTED: 'The provider does not send such events.',
  } satisfies Record<ObjectSubscription['status'], string>,
);

const providerEventKind = enumeration('ProviderEventKind', 'A kind of event of a provider.', {
  CREATE: 'A record was created.',
  UPDATE: 'A record has changed.',
  DELETE: 'A record was deleted.',
  ASSOCIATION_UPDATE: 'Two records were associated, or no longer are.',
  OTHER: "An event that only the provider's own name describes.",
} satisfies Record<ProviderEventKind, string>);

export const objectSubscriptionResource = resource(
  'ObjectSubscription',
  'A subscription of an installation to the events of one provider object.',
  {
    objectName: z.string().describe("The provider's name of the object, like `contacts`."),
    mappedObjectName: z
      .string()
      .nullable()
      .describe('The name that the integration maps the object to; {null} if there is none.'),
    kinds: z.array(providerEventKind).describe('The kinds of events that it receives.'),
    status: subscriptionStatus.describe('The status of the subscription.'),
    error: printedColumn(
      'error',
      z.string().nullable().describe('A human-readable error message. Null if there is no error.'),
    ),
    lastEventTime: z
      .date()
      .nullable()
      .describe('When the last delivered event happened. Null before the first.'),
    eventCount: z.int().describe('The number of delivered events.'),
  },
);

/**
 * Loads the subscriptions of installations in the order of the manifest. Objects that the manifest no longer has come
 * last.
 */
export const listObjectSubscriptions = createInstallationBatch(
  sqlStatement<ObjectSubscriptionView>(`
  select subscription.*, subscription."kinds"::text[] as "kinds",
    read."value"->>'mapToName' as "mappedObjectName", destination."id" as "destinationId"
  from ${REQUESTED_INSTALLATIONS}
  join "ObjectSubscription" subscription on subscription."projectId" = installation."projectId"
    and subscription."installationId" = installation."id" and subscription."isWanted"
  left join lateral jsonb_array_elements(revision."content"->'subscribe'->'objects')
    with ordinality spec("value", "number") on spec."value"->>'objectName' = subscription."objectName"
  left join lateral jsonb_array_elements(revision."content"->'read'->'objects') read
    on read."value"->>'objectName' = subscription."objectName"
  left join lateral jsonb_array_elements(config."content"->'read') choice
    on choice."value"->>'objectName' = subscription."objectName"
  left join "Destination" destination on destination."projectId" = subscription."projectId"
    and destination."name" = coalesce(
      spec."value"->>'destination', choice."value"->>'destination', read."value"->>'destination')
  order by subscription."installationId", spec."number", subscription."objectName"`),
);

interface SubscriptionInput {
  installation: Installation;
  content: IntegrationContent;
  config: ConfigContent;
}

/**
 * Stores the subscriptions that the installation needs. A worker then updates the provider. Must run last in the
 * transaction of the change.
 */
export async function reconcileSubscriptions(
  { catalog, now }: Pick<ProjectServices, 'catalog' | 'now'>,
  tx: Transaction,
  { installation, content, config }: SubscriptionInput,
): Promise<void> {
  const { id: installationId, projectId, connectionId } = installation;
  const desiredSubscriptions = listDesiredSubscriptions(content, config);
  const rows = await tx.objectSubscription.findMany({ where: { projectId, installationId } });
  if (desiredSubscriptions.length === 0 && rows.length === 0) return;
  const provider = catalog.findWithModule(content.provider, content.module);
  const comparisons = desiredSubscriptions.map((events) => {
    const row = rows.find(({ objectName }) => objectName === events.objectName);
    const error = describeUnsupported(provider, content.provider, events);
    return compareSubscription(events, row, { error, connectionId });
  });
  for (const { isChanged, events, error } of comparisons) {
    if (!isChanged) continue;
    const { objectName, ...desiredEvents } = events;
    const data = {
      ...desiredEvents,
      status: error === null ? 'PENDING' : 'UNSUPPORTED',
      error,
      failures: 0,
      dueTime: now(),
      provider: content.provider,
      connectionId,
      isWanted: true,
    } as const;
    const key = { projectId, installationId, objectName };
    await tx.objectSubscription.upsert({
      where: { projectId_installationId_objectName: key },
      create: { ...key, ...data },
      update: data,
    });
  }
  const desiredNames = desiredSubscriptions.map(({ objectName }) => objectName);
  await tx.objectSubscription.updateMany({
    where: { projectId, installationId, objectName: { notIn: desiredNames }, isWanted: true },
    data: { isWanted: false, dueTime: now(), failures: 0 },
  });
  notifySubscriptions(tx);
  const newErrors = new Set(comparisons.map(({ newError }) => newError));
  for (const error of newErrors) {
    if (error !== null) await recordSubscribeError(tx, installation, error);
  }
}

/** Applies a new revision to the subscriptions of its installations. Must run last in the transaction of the revision. */
export async function followRevision(
  services: Pick<ProjectServices, 'catalog' | 'now'>,
  tx: Transaction,
  { projectId, integrationId, before, after: content }: RevisionChange,
): Promise<void> {
  if (!before.subscribe && !content.subscribe) return;
  const isSame = (section: 'subscribe' | 'read') =>
    isDeepStrictEqual(before[section], content[section]);
  if (isSame('subscribe') && isSame('read')) return;
  for await (const batch of iterateInstallations(tx, { projectId, integrationId })) {
    for (const { installation, config } of batch) {
      await reconcileSubscriptions(services, tx, { installation, content, config });
    }
  }
}

/** Marks the subscriptions of deleted installations as unwanted, so that a worker removes them at their providers. */
export async function markSubscriptionsUnwanted(
  tx: Transaction,
  installations: readonly Pick<Installation, 'id' | 'projectId'>[],
  now: Date,
): Promise<void> {
  if (installations.length === 0) return;
  const { count } = await tx.objectSubscription.updateMany({
    where: {
      projectId: { in: installations.map(({ projectId }) => projectId) },
      installationId: { in: installations.map(({ id }) => id) },
      isWanted: true,
    },
    data: { isWanted: false, dueTime: now, failures: 0 },
  });
  if (count > 0) notifySubscriptions(tx);
}

const PROJECTS_WITH_SUBSCRIPTIONS = acrossProjects<{ projectId: string }>(
  'projects with subscriptions at a provider',
  (inProjects) => `select distinct "projectId" from "ObjectSubscription"
   where ${inProjects('"projectId"')} and "provider" = $1`,
);

/** Schedules all subscriptions of a provider for maintenance, because the provider has lost them. */
export async function scheduleMaintenance(
  { database, now }: RowServices,
  provider: string,
): Promise<void> {
  const rows = await sweep(database, PROJECTS_WITH_SUBSCRIPTIONS, [provider]);
  if (rows.length === 0) return;
  const projectId = { in: rows.map((row) => row.projectId) };
  await inTransaction(database, async (tx) => {
    const { count } = await tx.objectSubscription.updateMany({
      where: { projectId, provider, isWanted: true, status: { not: 'UNSUPPORTED' } },
      data: { dueTime: now() },
    });
    if (count > 0) notifySubscriptions(tx);
  });
}

/** Records an event for a subscription error. Must run last in a transaction. */
export async function recordSubscribeError(
  tx: Transaction,
  installation: Pick<Installation, 'id' | 'projectId'>,
  error: Text,
): Promise<void> {
  const fields = await readInstallationFields(tx, installation);
  const { projectId, connectionId, installationId } = fields;
  const parties = { projectId, connectionId, installationId, subject: pickSubject(fields) };
  await recordEvent(tx, {
    ...parties,
    eventType: 'SUBSCRIBE_CREATE_ERROR',
    data: { ...fields, error: printText(error) },
  });
}

/** The events of an object that an installation needs, according to its integration and its config. */
interface DesiredEvents {
  objectName: string;
  kinds: ProviderEventKind[];
  /** The provider's names of the events of the kind OTHER. */
  otherEvents: string[];
  /** Only updates that change one of these fields count. Empty means every update. */
  watchFields: string[];
}

/** Compares the desired events with the stored row. `error` states why the provider can't send them. */
function compareSubscription(
  events: DesiredEvents,
  row: ObjectSubscription | undefined,
  { error, connectionId }: Pick<ObjectSubscription, 'error' | 'connectionId'>,
) {
  const isChanged =
    !row?.isWanted ||
    row.connectionId !== connectionId ||
    !isDeepStrictEqual(pickEvents(row), events);
  return { events, error, isChanged, newError: error === row?.error ? null : error };
}

function pickEvents(row: DesiredEvents): DesiredEvents {
  const { objectName, kinds, otherEvents, watchFields } = row;
  return { objectName, kinds, otherEvents, watchFields };
}

function describeUnsupported(
  provider: Provider | null,
  name: string,
  { objectName, kinds }: DesiredEvents,
): string | null {
  if (!provider) return describeMissingProvider(name);
  const { displayName } = provider;
  const capability = provider.capabilities.subscribe;
  if (!capability) return `${displayName} does not support subscriptions.`;
  const supportedKinds = capability.listKinds?.(objectName) ?? capability.kinds;
  const missingKinds = kinds.filter((kind) => !supportedKinds.includes(kind)).join(', ');
  return missingKinds === ''
    ? null
    : `${displayName} does not support subscriptions to events of ${objectName} of the kind ${missingKinds}.`;
}

/**
 * Returns one subscription for each object with events. An installation that does not read the object receives no
 * events about its records.
 */
function listDesiredSubscriptions(
  content: IntegrationContent,
  config: ConfigContent,
): DesiredEvents[] {
  return (content.subscribe?.objects ?? []).flatMap((spec) => {
    const choice = config.subscribe?.find((candidate) => candidate.objectName === spec.objectName);
    const object = choice ? applyConfig(spec, choice) : spec;
    const fields = findReadFields(content, config, object.objectName);
    const kinds = [...(fields ? listRecordKinds(object) : []), ...listOtherKinds(object)];
    if (kinds.length === 0) return [];
    const watchFields = fields ? listWatchedFields(object, fields) : [];
    return { objectName: object.objectName, kinds, otherEvents: object.otherEvents, watchFields };
  });
}

/** Returns the fields that the installation reads. Null if it does not read the object. */
function findReadFields(
  content: IntegrationContent,
  config: ConfigContent,
  objectName: string,
): string[] | null {
  const spec = content.read?.objects.find((object) => object.objectName === objectName);
  const choice = config.read.find((object) => object.objectName === objectName);
  if (!spec || !choice || choice.disabled) return null;
  const { fields, readsAll } = createReadPlan(spec, choice, { pageSize: 1 });
  // An empty list means all fields: every update counts.
  return readsAll ? [] : fields;
}

function listOtherKinds({ otherEvents }: SubscribeObject): ProviderEventKind[] {
  return otherEvents.length > 0 ? ['OTHER'] : [];
}

function listWatchedFields({ updateEvent }: SubscribeObject, fields: string[]): string[] {
  return updateEvent?.watchFieldsAuto === 'selected'
    ? fields
    : (updateEvent?.requiredWatchFields ?? []);
}
