/** Loads what the delivery of a subscription's events needs: settings, names, and current records. */

import type { Row } from '../../../database/statements/tables.ts';
import { notFound, unprocessable } from '../../../kernel/errors.ts';
import type { Provider } from '../../../providers/contract.ts';
import type { ProviderRecord } from '../../../providers/moving-records.ts';
import { ProviderError, type ProviderErrorKind } from '../../../providers/provider-error.ts';
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

export interface FetchedRecords {
  findRecord: FindRecord;
  /** Returns why the provider refuses to return the record. Undefined if it does not refuse. */
  findRefusal(objectName: string, id: string): ProviderError | undefined;
}

/**
 * Fetches the current records of events that do not contain them, each record once. Records that the provider
 * permanently refuses to return do not affect the others. Throws if the fetch fails for another reason.
 */
export async function fetchRecords(
  services: ProviderServices,
  source: ProviderEventSource,
  events: readonly StoredEvent[],
): Promise<FetchedRecords> {
  const { deliveredNames, provider, connection } = source;
  const { readRecords } = provider.capabilities;
  const records = new Map<string, ProviderRecord>();
  const refusals = new Map<string, ProviderError>();
  const fetched: FetchedRecords = {
    findRecord: (objectName, id) => records.get(`${objectName} ${id}`),
    findRefusal: (objectName, id) => refusals.get(`${objectName} ${id}`),
  };
  if (!deliveredNames || !readRecords) return fetched;
  const { fields } = deliveredNames;
  const session = openProviderSession(services, connection, provider);
  for (const [objectName, ids] of listIdsToFetch(source, events)) {
    const results = await fetchAcceptedIds(
      async (batch) =>
        requireShallow(
          await readRecords(session, { objectName, fields, ids: batch, omitsReplaced: true }),
        ),
      [...splitIntoBatches([...ids], provider.limits.batchSize)],
    );
    for (const record of results.records) records.set(`${objectName} ${record.id}`, record);
    for (const [id, err] of results.refusals) refusals.set(`${objectName} ${id}`, err);
    const [err] = results.refusals.values();
    if (err) {
      const logFields = { installationId: events[0]?.installationId, objectName, err };
      services.log.warn({ ...logFields, count: results.refusals.size }, 'provider_records.refused');
    }
  }
  return fetched;
}

/** Failures that concern the account and not the requested records. */
const ACCOUNT_FAILURES = new Set<ProviderErrorKind>(['AUTH_INVALIDATED', 'API_DISABLED']);

/** After this many refused records of one object, a refused batch is not divided further. */
const REFUSED_MAX = 10;

interface FetchResults {
  records: ProviderRecord[];
  /** The refusals of records, by id. */
  refusals: Map<string, ProviderError>;
}

/** Fetches batches of ids. A batch that the provider refuses is divided, to find the records that it refuses. */
async function fetchAcceptedIds(
  fetchBatch: (ids: string[]) => Promise<ProviderRecord[]>,
  batches: string[][],
): Promise<FetchResults> {
  const results: FetchResults = { records: [], refusals: new Map() };
  const { records, refusals } = results;
  for (let batch = batches.shift(); batch; batch = batches.shift()) {
    try {
      records.push(...(await fetchBatch(batch)));
    } catch (error) {
      const isRefusal = error instanceof ProviderError && !error.isTemporary;
      if (!isRefusal || ACCOUNT_FAILURES.has(error.kind)) throw error;
      const middle = batch.length >> 1;
      if (middle > 0 && refusals.size < REFUSED_MAX) {
        batches.unshift(batch.slice(0, middle), batch.slice(middle));
      } else {
        for (const id of batch) refusals.set(id, error);
      }
    }
  }
  return results;
}

/** True if the delivery of the event requires the current record, which the event does not contain. */
export function requiresRecord(
  event: StoredEvent,
): event is StoredEvent & { recordId: NonNullable<StoredEvent['recordId']> } {
  const { kind, recordId } = event;
  const isChange = kind === 'CREATE' || kind === 'UPDATE';
  return isChange && recordId !== null && readEventContent(event).record === null;
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
    if (requiresRecord(event)) add(event.objectName, event.recordId);
    const { association } = readEventContent(event);
    if (!association || !includesFullRecords) continue;
    for (const { objectName, id } of [association.from, association.to]) {
      // The provider may not name the object of a party.
      if (objectName !== '') add(objectName, id);
    }
  }
  return idsByObjectName;
}

function* splitIntoBatches<T>(items: T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
