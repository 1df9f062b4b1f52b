/**
 * Polls the fields of watched installations that are due, and enqueues a message for each object whose fields changed.
 * The current fields and the messages commit together, so that each change is reported once.
 */

import { LEASE, LeaseLost, RELEASED_LEASE } from '../../../database/leases/lease.ts';
import { LeasedRows } from '../../../database/leases/leased-rows.ts';
import { listColumns, type Row } from '../../../database/statements/tables.ts';
import { inTransaction } from '../../../database/transactions/transaction.ts';
import { enqueueMessages } from '../../../events/enqueue-messages.ts';
import { pickSubject } from '../../../events/subject.ts';
import { leasedWork } from '../../../jobs/leased-work.ts';
import { unprocessable } from '../../../kernel/errors.ts';
import { scheduleRetry } from '../../../work/backoff.ts';
import { DAY_MS, MINUTE_MS } from '../../../work/durations.ts';
import type { ProjectServices, ProviderServices, RowServices } from '../../access/call.ts';
import { inProject } from '../../access/catalog.ts';
import { castJsonColumn } from '../../base/storable-json.ts';
import { openProviderSession } from '../../connections/connection/connection-session.ts';
import { learnFields } from '../../connections/provider/object-descriptions.ts';
import { logWorkFailure } from '../../connections/provider/work-failure.ts';
import { stopIfBacklogged } from '../../events/delivery-backlog.ts';
import { lockDestination } from '../../events/destination-uses.ts';
import { getNextRunTime } from '../../integrations/integration/cron.ts';
import type {
  IntegrationContent,
  WatchSchema,
} from '../../integrations/integration/integration-content.ts';
import {
  createInstallationHead,
  findInstallationContent,
  type InstallationContent,
} from '../operation/read/read-source.ts';
import {
  findSchemaDifference,
  formatSchemaMessage,
  type KnownObjects,
  toKnownFields,
} from './schema-difference.ts';

type SchemaWatch = Row<'SchemaWatch'>;

const WATCH_LEASES = new LeasedRows({
  table: 'SchemaWatch',
  key: ['projectId', 'installationId'],
  leaseMs: 30_000,
  columns: LEASE,
});

const ONCE_A_DAY = '0 0 * * *';
const RETRY = { firstMs: MINUTE_MS, maxMs: DAY_MS, jitter: 0.5 };

/** Watched installations whose fields are due to be polled. */
export const schemaWatches = leasedWork({
  kind: 'schema_watch',
  leases: WATCH_LEASES,
  columns: listColumns('SchemaWatch'),
  perProcess: 4,
  run: pollWatch,
});

async function pollWatch(services: ProviderServices, watch: SchemaWatch): Promise<void> {
  const { projectId, installationId: id } = watch;
  try {
    const installationContent = await findInstallationContent(services, { projectId, id });
    // The row was deleted together with its installation.
    if (!installationContent) return;
    const { watchSchema } = installationContent.content;
    if (!watchSchema) {
      const where = WATCH_LEASES.getClaimFilter(watch);
      await services.database.prisma.schemaWatch.deleteMany({ where });
      return;
    }
    await stopIfBacklogged(services, projectId);
    const descriptions = await describeObjects(
      await inProject(services, projectId),
      installationContent,
    );
    await recordFields(services, watch, { installationContent, watchSchema, descriptions });
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    await recordFailure(services, watch, error);
  }
}

/**
 * Describes each object of the integration. Omits objects whose description is partial, because changes to them can't be
 * detected.
 */
async function describeObjects(
  services: ProjectServices,
  { content, installation }: InstallationContent,
): Promise<KnownObjects> {
  const provider = services.catalog.findWithModule(content.provider, content.module);
  const describe = provider?.capabilities.describeObject;
  if (!describe) throw unprocessable(`${content.provider} does not describe its objects.`);
  const { consumer: _consumer, ...connection } = installation.connection;
  const session = openProviderSession(services, connection, provider);
  const descriptions: KnownObjects = {};
  for (const name of listObjectNames(content)) {
    const description = await describe(session, name);
    learnFields(services, { connection, module: content.module, objectName: name }, description);
    if (!description.isPartial) descriptions[name] = toKnownFields(description);
  }
  return descriptions;
}

function listObjectNames({ read, write, subscribe }: IntegrationContent): Set<string> {
  const names = [read, write, subscribe].flatMap(
    (block) => block?.objects.map((object) => object.objectName) ?? [],
  );
  return new Set(names);
}

interface PollResult {
  installationContent: InstallationContent;
  watchSchema: WatchSchema;
  descriptions: KnownObjects;
}

/** Stores the fields and enqueues the messages. Throws LeaseLost if the claim no longer holds the watch. */
async function recordFields(
  services: RowServices,
  watch: SchemaWatch,
  { installationContent, watchSchema, descriptions }: PollResult,
): Promise<void> {
  const { projectId } = watch;
  const { connection } = installationContent.installation;
  // A different account has different fields, so its first poll only stores them.
  const previousObjects: KnownObjects =
    watch.connectionId === connection.id ? castJsonColumn(watch.knownFields) : {};
  const bodies = Object.entries(descriptions).flatMap(([objectName, fields]) => {
    const previousFields = previousObjects[objectName];
    const difference =
      previousFields && findSchemaDifference(previousFields, fields, watchSchema.allObjects);
    return difference
      ? [formatSchemaMessage(createHead(installationContent, objectName), difference)]
      : [];
  });
  const schedule = watchSchema.schedule ?? ONCE_A_DAY;
  const dueTime = getNextRunTime(schedule, services.now());
  await inTransaction(services.database, async (tx) => {
    const change = { knownFields: descriptions, connectionId: connection.id, dueTime, failures: 0 };
    await WATCH_LEASES.updateClaimed(tx.schemaWatch, watch, { ...change, ...RELEASED_LEASE });
    if (bodies.length === 0) return;
    const destination = await lockDestination(tx, projectId, watchSchema.destination);
    const messages = bodies.map((body) => ({ body }));
    await enqueueMessages(tx, destination, { messages, subject: pickSubject(connection) });
  });
}

function createHead(installationContent: InstallationContent, objectName: string): object {
  const spec = installationContent.content.read?.objects.find(
    (object) => object.objectName === objectName,
  );
  const deliveredName = spec?.mapToName ?? objectName;
  return createInstallationHead(installationContent, { objectName, deliveredName });
}

async function recordFailure(
  services: ProviderServices,
  watch: SchemaWatch,
  error: unknown,
): Promise<void> {
  logWorkFailure(services.log, error, {
    fields: { installationId: watch.installationId },
    retryEvent: 'schema_watch.delayed',
    defectEvent: 'schema_watch.failed',
  });
  const { prisma } = services.database;
  const change = { ...scheduleRetry(services, RETRY, watch.failures), ...RELEASED_LEASE };
  await WATCH_LEASES.updateClaimed(prisma.schemaWatch, watch, change);
}
