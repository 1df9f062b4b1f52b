/** Deletes integrations with their revisions and installations. */
import { z } from 'zod';
import { run, statements } from '../../../database/statements/statements.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../../database/transactions/transaction.ts';
import type { Call } from '../../access/call.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { projectIdOrName } from '../../base/names.ts';
import { deleteInstallations } from '../installation/installation-rows.ts';
import { getIntegration, integrationIdOrName, lockIntegration } from './integration.ts';

type Integration = Row<'Integration'>;

const deleteIntegrationInput = z
  .object({ projectIdOrName, integrationIdOrName })
  .meta({ id: 'DeleteIntegrationInput', description: 'The integration to delete.' });

/** The maximum number of installations that one transaction deletes. It records an event for each, and other events wait. */
export const DELETION_BATCH_SIZE = 25;

/**
 * Deletes the integration and its installations. Each transaction deletes some installations with their events, and the
 * last one deletes the integration. After an interruption, calling it again continues.
 */
export const deleteIntegration = projectMutation({
  description: 'Deletes an integration with its revisions and installations.',
  needs: 'integrations:write',
  input: deleteIntegrationInput,
  async run(call, input, project): Promise<{ deletedId: string }> {
    const integration = await getIntegration(call, project.id, input.integrationIdOrName);
    let isDone: boolean;
    do {
      isDone = await inTransaction(call.database, async (tx) => {
        const { isDeleted, recordEvents } = await removeIntegration(call, tx, integration);
        await recordEvents();
        return isDeleted;
      });
    } while (!isDone);
    return { deletedId: integration.id };
  },
});

/**
 * Deletes up to DELETION_BATCH_SIZE installations of an integration in a transaction, and the integration if none remains.
 * `recordEvents` must run last in the transaction.
 */
export async function removeIntegration(
  call: Pick<Call, 'now'>,
  tx: Transaction,
  integration: Pick<Integration, 'id' | 'projectId'>,
): Promise<{ isDeleted: boolean; recordEvents: () => Promise<void> }> {
  const { id, projectId } = await lockIntegration(tx, integration, 'change');
  const installations = await lockSomeInstallations(tx, { id, projectId });
  const recordEvents = await deleteInstallations(tx, { projectId, installations }, call.now());
  const remainingCount = await tx.installation.count({ where: { projectId, integrationId: id } });
  const isDeleted = remainingCount === 0;
  if (isDeleted) await tx.integration.delete({ where: { projectId_id: { projectId, id } } });
  return { isDeleted, recordEvents };
}

function lockSomeInstallations(
  tx: Transaction,
  { id: integrationId, projectId }: Pick<Integration, 'id' | 'projectId'>,
): Promise<Row<'Installation'>[]> {
  return run(
    tx,
    statements
      .selectFrom('Installation')
      .selectAll()
      .where('projectId', '=', projectId)
      .where('integrationId', '=', integrationId)
      .orderBy('id')
      .limit(DELETION_BATCH_SIZE)
      .forUpdate(),
  );
}
