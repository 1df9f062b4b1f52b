/** Loads what the delivery of a subscription's events needs: settings, names, and current records. */

import type { Row } from '../../../database/statements/tables.ts';
import { notFound, unprocessable } from '../../../kernel/errors.ts';
import type { Provider } from '../../../providers/contract.ts';
import type { ProviderRecord } from '../../../providers/moving-records.ts';
import { requireShallow } from '../../../providers/read-responses.ts';
import type { ProviderServices } from '../../access/call.ts';
import { describeMissingProvider } from '../../access/catalog.ts';
import { openProviderSession } from '../../connections/connection/connection-session.ts';
import { createReadPlan } from '../operation/read/read-plan.ts';
import {
  createInstallationHead,
  findInstallationContent,
  withAllFields,
} from '../operation/read/read-source.ts';
import {
  type DeliveredNames,
  type FindRecord,
  readEventContent,
  type StoredEvent,
} from './event-message.ts';
import type { SubscriptionKey } from './object-subscription.ts';

export interface ProviderEventSource {
  head: object;
  /** Null if the installation does not read the object. */
  deliveredNames: DeliveredNames | null;
  /** The name of the destination. */
  destination: string;
  /** True if both records of an association are fetched. */
  includesFullRecords: boolean;
  connection: Row<'Connection'>;
  provider: Provider;
}

/** Throws NOT_FOUND or UNPROCESSABLE with the reason why the events can't be delivered. */
export async function getProviderEventSource(
  services: ProviderServices,
  { projectId, installationId: id, objectName }: SubscriptionKey,
): Promise<ProviderEventSource> {
  const installationContent = await findInstallationContent(services, { projectId, id });
  if (!installationContent) throw notFound('Installation', id);
  const { content, config, installation } = installationContent;
  const catalog = await services.catalogs.getOfProject(projectId);
  const provider = catalog.findWithModule(content.provider, content.module);
  if (!provider) throw unprocessable(describeMissingProvider(content.provider));
  const isObject = (object: { objectName: string }) => object.objectName === objectName;
  const subscribeSpec = content.subscribe?.objects.find(isObject);
  const subscribeChoice = config.subscribe?.find(isObject);
  const readSpec = content.read?.objects.find(isObject);
  const readChoice = config.read.find(isObject);
  const configuredPlan =
    readSpec && readChoice && !readChoice.disabled
      ? createReadPlan(readSpec, readChoice, provider.limits)
      : null;
  const destination =
    subscribeChoice?.destination ?? subscribeSpec?.destination ?? configuredPlan?.destination;
  if (destination == null) {
    throw unprocessable(
      `The latest revision of the integration names no destination for ${objectName}.`,
    );
  }
  const { consumer: _consumer, ...connection } = installation.connection;
  const { module } = content;
  const readPlan =
    configuredPlan &&
    (await withAllFields(services, { readPlan: configuredPlan, connection, module }));
  const names = readPlan ?? { objectName, deliveredName: readSpec?.mapToName ?? objectName };
  return {
    head: { action: 'subscribe', ...createInstallationHead(installationContent, names) },
    deliveredNames: readPlan,
    destination,
    includesFullRecords: subscribeSpec?.associationChangeEvent?.includeFullRecords ?? false,
    connection,
    provider,
  };
}

/** Fetches the current records of events that do not contain them, each record once. */
export async function fetchRecords(
  services: ProviderServices,
  source: ProviderEventSource,
  events: readonly StoredEvent[],
): Promise<FindRecord> {
  const { deliveredNames, provider, connection } = source;
  const { readRecords } = provider.capabilities;
  if (!deliveredNames || !readRecords) return () => undefined;
  const { fields } = deliveredNames;
  const records = new Map<string, ProviderRecord>();
  const session = openProviderSession(services, connection, provider);
  for (const [objectName, ids] of listIdsToFetch(source, events)) {
    for (const batch of splitIntoBatches([...ids], provider.limits.batchSize)) {
      // The event of a merged record must not delay the events after it.
      const read = { objectName, fields, ids: batch, omitsReplaced: true };
      const batchRecords = await readRecords(session, read);
      for (const record of requireShallow(batchRecords)) {
        records.set(`${objectName} ${record.id}`, record);
      }
    }
  }
  return (objectName, id) => records.get(`${objectName} ${id}`);
}

function listIdsToFetch(
  { includesFullRecords }: ProviderEventSource,
  events: readonly StoredEvent[],
): Map<string, Set<string>> {
  const idsByObjectName = new Map<string, Set<string>>();
  const add = (objectName: string, id: string) => {
    const ids = idsByObjectName.get(objectName) ?? new Set();
    idsByObjectName.set(objectName, ids.add(id));
  };
  for (const event of events) {
    const { kind, objectName, recordId } = event;
    const { record, association } = readEventContent(event);
    const isChange = kind === 'CREATE' || kind === 'UPDATE';
    if (isChange && recordId !== null && record === null) add(objectName, recordId);
    if (association && includesFullRecords) {
      for (const party of [association.from, association.to]) add(party.objectName, party.id);
    }
  }
  return idsByObjectName;
}

function* splitIntoBatches<T>(items: T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
