/** Loads what the delivery of a subscription's events needs: settings, names, and current records. */
import type { Row } from '../../database/rows.ts';
import { notFound, unprocessable } from '../../errors.ts';
import type { Provider } from '../../providers/contract.ts';
import type { ProviderRecord } from '../../providers/moving-records.ts';
import type { Services } from '../call.ts';
import { openSession } from '../connection/connection-session.ts';
import { createReadPlan } from '../operation/read/read-plan.ts';
import {
  createInstallationHead,
  findInstallationContent,
  withAllFields,
} from '../operation/read/source.ts';
import type { EventClaim } from './event-lease.ts';
import {
  type DeliveredNames,
  type FindRecord,
  readEventContent,
  type StoredEvent,
} from './event-message.ts';

export interface EventSource {
  head: object;
  /** Null if the installation does not read the object. */
  plan: DeliveredNames | null;
  /** The name of the destination. */
  destination: string;
  /** True if both records of an association are fetched. */
  includesFullRecords: boolean;
  connection: Row<'Connection'>;
  provider: Provider;
}

/** Throws NOT_FOUND or UNPROCESSABLE with the reason why the events can't be delivered. */
export async function getEventSource(services: Services, claim: EventClaim): Promise<EventSource> {
  const { projectId, installationId: id, objectName } = claim;
  const installed = await findInstallationContent(services, { projectId, id });
  if (!installed) throw notFound('Installation', id);
  const { content, config, installation } = installed;
  const provider = services.catalogue.findWithModule(content.provider, content.module);
  if (!provider) throw unprocessable(`${content.provider} is no longer a provider.`);
  const object = content.subscribe?.objects.find(
    (candidate) => candidate.objectName === objectName,
  );
  const spec = content.read?.objects.find((candidate) => candidate.objectName === objectName);
  const choice = config.read.find((candidate) => candidate.objectName === objectName);
  const planned =
    spec && choice && !choice.disabled ? createReadPlan(spec, choice, provider.limits) : null;
  const { destination: chosenDestination = null } =
    config.subscribe?.find((candidate) => candidate.objectName === objectName) ?? {};
  const destination = chosenDestination ?? object?.destination ?? planned?.destination ?? null;
  if (destination === null) {
    throw unprocessable(
      `The latest revision of the integration names no destination for ${objectName}.`,
    );
  }
  const { consumer: _consumer, ...connection } = installation.connection;
  const { module } = content;
  const plan = planned && (await withAllFields(services, { plan: planned, connection, module }));
  const names = plan ?? { objectName, deliveredName: spec?.mapToName ?? objectName };
  return {
    head: { action: 'subscribe', ...createInstallationHead(installed, names) },
    plan,
    destination,
    includesFullRecords: object?.associationChangeEvent?.includeFullRecords ?? false,
    connection,
    provider,
  };
}

/** Fetches the current records of events that do not contain them, each record once. */
export async function fetchRecords(
  services: Services,
  source: EventSource,
  events: readonly StoredEvent[],
): Promise<FindRecord> {
  const { plan, provider, connection } = source;
  const { readRecords } = provider.capabilities;
  if (!plan || !readRecords) return () => undefined;
  const { fields } = plan;
  const records = new Map<string, ProviderRecord>();
  const session = openSession(services, connection, provider);
  for (const [objectName, ids] of listIdsToFetch(source, events)) {
    for (const batch of splitIntoBatches([...ids], provider.limits.batchSize)) {
      for (const record of await readRecords(session, { objectName, fields, ids: batch })) {
        records.set(`${objectName} ${record.id}`, record);
      }
    }
  }
  return (objectName, id) => records.get(`${objectName} ${id}`);
}

function listIdsToFetch(
  { includesFullRecords }: EventSource,
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
