/** Erases groups and consumers with all rows that refer to them. */
import { z } from 'zod';
import { inTransaction, type Transaction } from '../../database/transactions/transaction.ts';
import { notFound } from '../../kernel/errors.ts';
import type { Call } from '../access/call.ts';
import { projectMutation } from '../access/declared-mutation.ts';
import { projectIdOrName, ref } from '../base/names.ts';
import { findConsumerByRef, findGroupByRef } from '../tenants/project/parties.ts';
import { removeInstallations } from './erase-rows.ts';
import { beginErasure, type ErasureKey } from './erasure.ts';

const ERASURE_EFFECTS =
  'Callers no longer see it when the call returns, and its ref can be used again. Tokens are revoked at providers that support it. The rows are deleted in the background.';

const eraseGroupInput = z
  .object({ projectIdOrName, groupRef: ref.describe('The ref of the group.') })
  .meta({ id: 'EraseGroupInput', description: 'The group to erase.' });

const eraseConsumerInput = z
  .object({ projectIdOrName, consumerRef: ref.describe('The ref of the consumer.') })
  .meta({ id: 'EraseConsumerInput', description: 'The consumer to erase.' });

export const eraseGroup = projectMutation({
  description: `Erases a group and everything that refers to it: connections, installations, operations with their logs, events and deliveries. ${ERASURE_EFFECTS}`,
  needs: 'full',
  input: eraseGroupInput,
  async run(call, { groupRef }, { id: projectId }): Promise<{ deletedId: string }> {
    const group = await findGroupByRef(call, { projectId, groupRef });
    if (!group) throw notFound('Group', groupRef);
    return erase(call, group, ['groupRef', groupRef], async (tx, where) => {
      const { id } = where;
      await tx.group.updateMany({ where, data: { groupRef: id, groupName: id } });
    });
  },
});

export const eraseConsumer = projectMutation({
  description: `Erases a consumer and everything that refers to it: connections, the installations that use them, operations with their logs, events and deliveries. ${ERASURE_EFFECTS}`,
  needs: 'full',
  input: eraseConsumerInput,
  async run(call, { consumerRef }, { id: projectId }): Promise<{ deletedId: string }> {
    const consumer = await findConsumerByRef(call, { projectId, consumerRef });
    if (!consumer) throw notFound('Consumer', consumerRef);
    return erase(call, consumer, ['consumerRef', consumerRef], async (tx, where) => {
      const { id } = where;
      await tx.consumer.updateMany({ where, data: { consumerRef: id, consumerName: id } });
    });
  },
});

/** Hides the subject from callers, and starts the deletion of its rows. `releaseRef` lets another row take its ref. */
async function erase(
  call: Call,
  { projectId, id }: ErasureKey,
  [refName, subjectRef]: ['groupRef' | 'consumerRef', string],
  releaseRef: (tx: Transaction, key: ErasureKey) => Promise<void>,
): Promise<{ deletedId: string }> {
  const key = { projectId, id };
  await inTransaction(call.database, async (tx) => {
    await releaseRef(tx, key);
    const input = { path: [refName], equals: subjectRef };
    await tx.oAuthConnect.deleteMany({ where: { projectId, input } });
    await beginErasure(tx, key);
  });
  await call.erasedSubjects.refresh();
  // Installations do not refer to their consumer, so the filter for erased subjects can't hide them.
  await removeInstallations(call.database.run, key);
  return { deletedId: id };
}
