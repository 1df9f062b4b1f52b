/** Subscriptions of installations: what they want, and how that stands at the provider. */
import { acrossProjects, sweep } from '../../database/projects/all-projects.ts';
import type { Row } from '../../database/rows.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import { announceSubscriptions } from '../../events/channel.ts';
import { recordEvent } from '../../events/record.ts';
import { subjectOf } from '../../events/subject.ts';
import type { ProviderEventKind } from '../../providers/subscribing.ts';
import type { Services } from '../call.ts';
import type { ConfigContent, SubscribeConfig } from '../installation/installation-config.ts';
import { installationFields } from '../installation/installation-events.ts';
import { ASKED_INSTALLATIONS, rowsOfInstallations } from '../installation/rows-of-installations.ts';
import type { IntegrationContent, SubscribeObject } from '../integration/integration-content.ts';
import { readPlan } from '../operation/read/read-plan.ts';

export type ObjectSubscription = Row<'ObjectSubscription'>;
type Installation = Pick<Row<'Installation'>, 'id' | 'projectId' | 'connectionId'>;

/** A subscription beside what the integration says of its object. */
export interface ObjectSubscriptionView extends ObjectSubscription {
  mappedObjectName: string | null;
  destinationId: string | null;
}

/** The subscriptions of installations that the viewer has found, by object name. */
export const objectSubscriptions = rowsOfInstallations<ObjectSubscriptionView>(`
  select s.*, s."kinds"::text[] as "kinds", read."value"->>'mapToName' as "mappedObjectName", d."id" as "destinationId"
  from ${ASKED_INSTALLATIONS}
  join "ObjectSubscription" s on s."projectId" = i."projectId" and s."installationId" = i."id" and s."isWanted"
  left join lateral jsonb_array_elements(r."content"->'subscribe'->'objects') spec
    on spec."value"->>'objectName' = s."objectName"
  left join lateral jsonb_array_elements(r."content"->'read'->'objects') read
    on read."value"->>'objectName' = s."objectName"
  left join lateral jsonb_array_elements(c."content"->'read') choice
    on choice."value"->>'objectName' = s."objectName"
  left join "Destination" d on d."projectId" = s."projectId" and d."name" = coalesce(
    spec."value"->>'destination', choice."value"->>'destination', read."value"->>'destination')
  order by s."installationId", s."objectName"`);

export interface Follow {
  installation: Installation;
  content: IntegrationContent;
  config: ConfigContent;
}

/**
 * Notes what the installation wants from now on; the difference to what is at the provider is worked off soon. To be
 * called last in the transaction of the change.
 */
export async function followSubscriptions(
  { catalogue, now }: Pick<Services, 'catalogue' | 'now'>,
  tx: Transaction,
  { installation, content, config }: Follow,
): Promise<void> {
  const { id: installationId, projectId, connectionId } = installation;
  const wanted = desiredSubscriptions(content, config);
  const rows = await tx.objectSubscription.findMany({ where: { projectId, installationId } });
  if (wanted.length === 0 && rows.length === 0) return;
  const before = new Map(rows.map((row) => [row.objectName, row]));
  const refused: string[] = [];
  for (const one of wanted) {
    const provider = catalogue.findAt(content.provider, content.module);
    const reason = unsupportedReason(provider, content.provider, one);
    const row = before.get(one.objectName);
    if (reason !== null && row?.error !== reason) refused.push(reason);
    if (row && isSame(row, one) && row.isWanted && row.connectionId === connectionId) continue;
    const state = reason === null ? pending(now()) : unsupported(reason, now());
    const { objectName, ...asked } = one;
    const data = { ...asked, ...state, provider: content.provider, connectionId, isWanted: true };
    const key = { projectId, installationId, objectName };
    await tx.objectSubscription.upsert({
      where: { projectId_installationId_objectName: key },
      create: { ...key, ...data },
      update: data,
    });
  }
  const names = wanted.map(({ objectName }) => objectName);
  await tx.objectSubscription.updateMany({
    where: { projectId, installationId, objectName: { notIn: names }, isWanted: true },
    data: { isWanted: false, dueTime: now(), failures: 0 },
  });
  announceSubscriptions(tx);
  for (const reason of new Set(refused)) await recordSubscribeError(tx, installation, reason);
}

/** Of installations that go: what is at their providers is taken down. */
export async function dropSubscriptions(
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
  if (count > 0) announceSubscriptions(tx);
}

const SUBSCRIBING = acrossProjects(
  'a provider has lost what was set up there',
  (inProjects) => `select distinct "projectId" from "ObjectSubscription"
   where ${inProjects('"projectId"')} and "provider" = $1`,
);

/** Of a provider that has lost what was set up there: all of its subscriptions are looked after soon. */
export async function scheduleMaintenance(
  { database, now }: Pick<Services, 'database' | 'now'>,
  provider: string,
): Promise<void> {
  const subscribing = await sweep<{ projectId: string }>(database, SUBSCRIBING, [provider]);
  if (subscribing.length === 0) return;
  const projectId = { in: subscribing.map((one) => one.projectId) };
  await inTransaction(database, async (tx) => {
    const { count } = await tx.objectSubscription.updateMany({
      where: { projectId, provider, isWanted: true, status: { not: 'UNSUPPORTED' } },
      data: { dueTime: now() },
    });
    if (count > 0) announceSubscriptions(tx);
  });
}

/** What of it does not work is told once, as an event. To be called last in a transaction. */
export async function recordSubscribeError(
  tx: Transaction,
  installation: Pick<Installation, 'id' | 'projectId'>,
  error: string,
): Promise<void> {
  const fields = await installationFields(tx, installation);
  const { projectId, connectionId, installationId } = fields;
  const about = { projectId, connectionId, installationId, subject: subjectOf(fields) };
  await recordEvent(tx, {
    ...about,
    eventType: 'SUBSCRIBE_CREATE_ERROR',
    data: { ...fields, error },
  });
}

const pending = (dueTime: Date) =>
  ({ status: 'PENDING', error: null, failures: 0, dueTime }) as const;

const unsupported = (error: string, dueTime: Date) =>
  ({ status: 'UNSUPPORTED', error, failures: 0, dueTime }) as const;

function unsupportedReason(
  provider: ReturnType<Services['catalogue']['find']>,
  name: string,
  { objectName, kinds }: Wanted,
): string | null {
  const capability = provider?.capabilities.subscribe;
  const displayName = provider?.displayName ?? name;
  if (!capability) return `${displayName} does not support subscriptions.`;
  const told = capability.kindsOf?.(objectName) ?? capability.kinds;
  const missing = kinds.filter((kind) => !told.includes(kind)).join(', ');
  return missing === ''
    ? null
    : `${displayName} does not support subscriptions to events of ${objectName} of the kind ${missing}.`;
}

function isSame(row: ObjectSubscription, wanted: Wanted): boolean {
  const { objectName, kinds, otherEvents, watchFields } = row;
  return JSON.stringify({ objectName, kinds, otherEvents, watchFields }) === JSON.stringify(wanted);
}

/** Which of a provider's events an installation wants: told from the integration's content and the config. */

interface Wanted {
  objectName: string;
  kinds: ProviderEventKind[];
  /** Native names of the events of the kind OTHER. */
  otherEvents: string[];
  /** An update counts if one of these has changed; empty: every update. */
  watchFields: string[];
}

/** One for each object of which anything is wanted. Events about records need the object to be read. */
function desiredSubscriptions(content: IntegrationContent, config: ConfigContent): Wanted[] {
  return (content.subscribe?.objects ?? []).flatMap((spec) => {
    const choice = config.subscribe?.find((one) => one.objectName === spec.objectName);
    const object = choice ? withChoice(spec, choice) : spec;
    const fields = fieldsRead(content, config, object.objectName);
    const kinds = [...(fields ? recordKinds(object) : []), ...otherKind(object)];
    if (kinds.length === 0) return [];
    const watchFields = fields ? watchedFields(object, fields) : [];
    return { objectName: object.objectName, kinds, otherEvents: object.otherEvents, watchFields };
  });
}

/** What the integration subscribes to, less what the config leaves out. */
function withChoice(spec: SubscribeObject, choice: SubscribeConfig): SubscribeObject {
  const { createEvent, updateEvent, deleteEvent, otherEvents } = choice;
  const isLeftOut = (chosen: { enabled: string } | null) => chosen?.enabled === 'NEVER';
  return {
    ...spec,
    createEvent: isLeftOut(createEvent) ? null : spec.createEvent,
    updateEvent: isLeftOut(updateEvent) ? null : watching(spec, choice),
    deleteEvent: isLeftOut(deleteEvent) ? null : spec.deleteEvent,
    // The revision may have fewer by now.
    otherEvents: spec.otherEvents.filter((name) => otherEvents?.includes(name) ?? true),
  };
}

/** The fields that the config says are watched take the place of the integration's. */
function watching(
  { updateEvent: spec }: SubscribeObject,
  { updateEvent: choice }: SubscribeConfig,
): SubscribeObject['updateEvent'] {
  if (!spec || !choice) return spec;
  const { watchFieldsAuto, requiredWatchFields } = choice;
  if (watchFieldsAuto === null && requiredWatchFields.length === 0) return spec;
  return { ...spec, watchFieldsAuto, requiredWatchFields };
}

/** Null if the installation does not read the object. */
function fieldsRead(
  content: IntegrationContent,
  config: ConfigContent,
  objectName: string,
): string[] | null {
  const spec = content.read?.objects.find((object) => object.objectName === objectName);
  const choice = config.read.find((object) => object.objectName === objectName);
  if (!spec || !choice || choice.disabled) return null;
  const { fields, readsAll } = readPlan(spec, choice, { pageSize: 1 });
  // Of all fields, none is named: every update counts.
  return readsAll ? [] : fields;
}

function recordKinds({
  createEvent,
  updateEvent,
  deleteEvent,
  associationChangeEvent,
}: SubscribeObject): ProviderEventKind[] {
  const listed = {
    CREATE: createEvent,
    UPDATE: updateEvent,
    DELETE: deleteEvent,
    ASSOCIATION_UPDATE: associationChangeEvent,
  };
  return (Object.keys(listed) as (keyof typeof listed)[]).filter((kind) => listed[kind] !== null);
}

function otherKind({ otherEvents }: SubscribeObject): ProviderEventKind[] {
  return otherEvents.length > 0 ? ['OTHER'] : [];
}

function watchedFields({ updateEvent }: SubscribeObject, fields: string[]): string[] {
  return updateEvent?.watchFieldsAuto === 'selected'
    ? fields
    : (updateEvent?.requiredWatchFields ?? []);
}
