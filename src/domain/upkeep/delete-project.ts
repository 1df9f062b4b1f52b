import { z } from 'zod';
import { inTransaction, type Transaction } from '../../database/transactions/transaction.ts';
import { invalid } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { projectMutation } from '../access/declared-mutation.ts';
import { ADMIN } from '../access/viewer/needs.ts';
import { requiredProjectIdOrName } from '../base/names.ts';
import { beginErasure } from './erasure.ts';

const deleteProjectInput = z
  .object({
    // Never a default: a call that names no project must not delete one.
    projectIdOrName: requiredProjectIdOrName,
    confirmName: z
      .string()
      .max(128)
      .describe("The name of the project, as a confirmation. A deletion can't be undone."),
  })
  .meta({
    id: 'DeleteProjectInput',
    description: 'The project to delete, with its name as a confirmation.',
  });

/**
 * Throws NOT_FOUND for callers who are not members of the org. One transaction hides the project; a worker erases its rows.
 */
export const deleteProject = projectMutation({
  description:
    'Deletes a project and everything in it. Callers no longer see it when the call returns, and its name can be used again. Its keys are rejected within a second, and no more messages are sent. Tokens are revoked at providers that support it. The rows are deleted in the background.',
  needs: ADMIN,
  input: deleteProjectInput,
  async run(call, { confirmName }, { id, name }): Promise<{ deletedId: string }> {
    if (confirmName.toLowerCase() !== name) {
      throw invalid(['confirmName'], `must be ${name}, the name of the project.`, confirmName);
    }
    await inTransaction(call.database, async (tx) => {
      await leaveOrg(tx, id);
      await deleteAccessRows(tx, id);
      await beginErasure(tx, { projectId: id, id });
    });
    call.viewers.clear();
    return { deletedId: id };
  },
});

/** Moves the project to a new org without members, so that no caller sees it while its rows are erased. */
async function leaveOrg(tx: Transaction, id: string): Promise<void> {
  const org = await tx.org.create({ data: { id: newId('org'), label: id } });
  const data = { orgId: org.id, name: id, appName: id, allowedOrigins: [] };
  await tx.project.update({ where: { id }, data });
}

/** Deletes the rows that authenticate callers or cause messages. A project has few of them. */
async function deleteAccessRows(tx: Transaction, projectId: string): Promise<void> {
  const where = { projectId };
  await tx.apiKey.deleteMany({ where });
  await tx.jwtKey.deleteMany({ where });
  await tx.oAuthConnect.deleteMany({ where });
  await tx.topic.deleteMany({ where });
  await tx.destination.deleteMany({ where });
}
