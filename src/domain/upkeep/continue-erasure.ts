/**
 * Continues an erasure for a time slice of some seconds. Deliveries and running work are erased
 * first. Every part may run repeatedly, so that a killed worker leaves no rows behind.
 */

import { isForeignKeyViolation } from '../../database/connect/violations.ts';
import { RELEASED_LEASE } from '../../database/leases/lease.ts';
import { sqlStatement } from '../../database/statements/statements.ts';
import { inTransaction, type Transaction } from '../../database/transactions/transaction.ts';
import { notifyWork } from '../../events/channel.ts';
import { leasedWork } from '../../jobs/leased-work.ts';
import { findPrefix } from '../../kernel/ids.ts';
import type { RowServices, Services } from '../access/call.ts';
import { inProject } from '../access/catalog.ts';
import { removeFromJournal } from '../connections/connection/token/token-commit.ts';
import type { LeasedConnection } from '../connections/connection/token/token-lease.ts';
import { revokeTokens } from '../connections/connection/token/token-revocation.ts';
import type { ObjectSubscription } from '../data/provider-event/object-subscription.ts';
import {
  removeAtProvider,
  removeEvents,
  removeSubscription,
} from '../data/provider-event/remove-subscription.ts';
import {
  formatSubjectCondition,
  removeInstallations,
  removeOperations,
  removeRows,
} from './erase-rows.ts';
import { ERASURE_KIND, ERASURE_LEASES, type Erasure, type ErasureKey } from './erasure.ts';

/** The maximum number of connections that are revoked in parallel. Each revocation waits for its provider. */
const CONNECTIONS_MAX = 20;
/** The duration of a time slice. It is short, so that the worker can start another erasure or stop within seconds. */
const TIME_SLICE_MS = 5_000;

/**
 * Tables with many rows per project, in an order that satisfies the foreign keys. Other tables are deleted with the
 * project's row.
 */
const PROJECT_TABLES = [
  'ActivityDelta',
  'ActivityCount',
  'ActivityHistogram',
  'WriteTask',
  'IdempotencyKey',
  'LearnedField',
  'Integration',
  'ProviderApp',
  'Group',
  'Consumer',
];

/** Erasures of groups, consumers and projects. */
export const erasures = leasedWork({
  kind: ERASURE_KIND,
  leases: ERASURE_LEASES,
  columns: ['projectId', 'id', 'leaseToken'],
  perProcess: 2,
  run: continueErasure,
});

/** Runs one time slice of a claimed erasure. */
async function continueErasure(
  services: Services,
  claim: ErasureClaim,
  signal: AbortSignal,
): Promise<void> {
  const { database, log, now } = services;
  const { leaseToken: _leaseToken, ...key } = claim;
  const endMs = performance.now() + TIME_SLICE_MS;
  const isOver = () => signal.aborted || performance.now() >= endMs;
  if ((await eraseParts(services, key, isOver)) && (await endErasure(services, key))) {
    await services.erasedSubjects.refresh();
    log.info({ projectId: key.projectId, erasedId: key.id }, 'erasure.ended');
    return;
  }
  const change = { dueTime: now(), ...RELEASED_LEASE };
  await inTransaction(database, async (tx) => {
    await ERASURE_LEASES.updateClaimed(tx.erasure, claim, change);
    notifyWork(tx, ERASURE_KIND);
  });
}

type ErasureClaim = Pick<Erasure, 'projectId' | 'id' | 'leaseToken'>;

/** Returns true if every part is erased, false if the time slice is over. */
async function eraseParts(
  services: Services,
  key: ErasureKey,
  isOver: () => boolean,
): Promise<boolean> {
  const { run } = services.database;
  const isProject = key.id === key.projectId;
  const removeFrom = (table: string) => async () => (await removeRows(run, table, key)) > 0;
  const parts: (() => Promise<boolean>)[] = [
    () => endSubscriptions(services, key),
    async () => {
      await removeInstallations(run, key);
      return false;
    },
    removeFrom('Delivery'),
    removeFrom('StreamMessage'),
    () => removeOperations(services.database, key),
    removeFrom('NotificationEvent'),
    removeFrom('Proposal'),
    removeFrom('AgentSession'),
    () => endConnections(services, key),
    ...(isProject ? PROJECT_TABLES.map(removeFrom) : []),
  ];
  for (const removePart of parts) {
    while (await removePart()) if (isOver()) return false;
  }
  return true;
}

/** Revokes some connections at providers that support it, and deletes them. Returns true if there may be more. */
async function endConnections(services: Services, key: ErasureKey): Promise<boolean> {
  const { run } = services.database;
  const { projectId } = key;
  const statement = sqlStatement<LeasedConnection>(
    `select "id", "projectId", "provider", "providerAppId", "providerWorkspaceRef", "providerMetadata"
     from "Connection" where ${formatSubjectCondition(key)} limit ${CONNECTIONS_MAX}`,
  );
  const connections = await run(statement, [projectId, key.id]);
  if (connections.length === 0) return false;
  await Promise.all(connections.map((connection) => tryToRevoke(services, connection)));
  const ids = connections.map(({ id }) => id);
  // Installations may have been created for the connections since the earlier part deleted them.
  await run(DELETE_INSTALLATIONS, [projectId, ids]);
  await run(DELETE_CONNECTIONS, [projectId, ids]);
  for (const connection of connections) removeFromJournal(services, connection);
  return true;
}

const DELETE_INSTALLATIONS = sqlStatement(`
  delete from "Installation" where "projectId" = $1 and "connectionId" = any($2)`);
const DELETE_CONNECTIONS = sqlStatement(
  `delete from "Connection" where "projectId" = $1 and "id" = any($2)`,
);

/** Tries once to revoke the tokens, so that the erasure does not wait for a provider that fails. */
async function tryToRevoke(services: Services, connection: LeasedConnection): Promise<void> {
  const { id: connectionId, provider } = connection;
  try {
    const projectServices = await inProject(services, connection.projectId);
    if (!(await revokeTokens(projectServices, connection))) return;
    services.log.info({ connectionId, provider }, 'connection.revoked');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    services.log.warn({ connectionId, provider, reason }, 'connection.revocation_failed');
  }
}

/** Deletes the row of the erased subject. Returns false if new rows refer to it, which must be erased first. */
async function endErasure({ database }: RowServices, key: ErasureKey): Promise<boolean> {
  try {
    await inTransaction(database, (tx) => deleteSubject(tx, key));
    return true;
  } catch (error) {
    if (isForeignKeyViolation(error)) return false;
    throw error;
  }
}

async function deleteSubject(tx: Transaction, { projectId, id }: ErasureKey): Promise<void> {
  if (id === projectId) {
    const project = await tx.project.delete({ where: { id } });
    await tx.org.delete({ where: { id: project.orgId } });
    return;
  }
  const where = { projectId, id };
  if (findPrefix(id) === 'grp') await tx.group.deleteMany({ where });
  else await tx.consumer.deleteMany({ where });
  await tx.erasure.deleteMany({ where });
}

/** The maximum number of subscriptions that are removed in parallel. Each removal waits for its provider. */
const SUBSCRIPTIONS_MAX = 20;

type SubscriptionRow = Pick<
  ObjectSubscription,
  'projectId' | 'installationId' | 'objectName' | 'provider' | 'connectionId' | 'providerRef'
>;

/**
 * Removes some subscriptions of the subject at providers that support it, and deletes them with their events. Returns
 * true if there may be more.
 */
export async function endSubscriptions(services: Services, key: ErasureKey): Promise<boolean> {
  const { run } = services.database;
  const statement = sqlStatement<SubscriptionRow>(
    `select "projectId", "installationId", "objectName", "provider", "connectionId", "providerRef"
     from "ObjectSubscription" where "projectId" = $1 and "connectionId" in (
       select "id" from "Connection" where ${formatSubjectCondition(key)})
     limit ${SUBSCRIPTIONS_MAX}`,
  );
  const subscriptions = await run(statement, [key.projectId, key.id]);
  await Promise.all(
    subscriptions.map((subscription) => tryToRemoveAtProvider(services, subscription)),
  );
  for (const subscription of subscriptions) {
    const { projectId, installationId, objectName } = subscription;
    await run(MARK_UNWANTED, [projectId, installationId, objectName]);
    await removeEvents(run, subscription);
    await inTransaction(services.database, (tx) => removeSubscription(tx, subscription));
  }
  return subscriptions.length > 0;
}

const MARK_UNWANTED = sqlStatement(`
  update "ObjectSubscription" set "isWanted" = false
  where "projectId" = $1 and "installationId" = $2 and "objectName" = $3`);

/** Tries once to remove the subscription, so that the erasure does not wait for a provider that fails. */
async function tryToRemoveAtProvider(
  services: Services,
  subscription: SubscriptionRow,
): Promise<void> {
  await removeAtProvider(services, subscription).catch((error: unknown) => {
    const { installationId, providerRef } = subscription;
    const fields = { err: error, installationId, providerRef };
    services.log.warn(fields, 'provider_subscription.not_removed');
  });
}
