/** Test messages show whether a destination accepts messages. */
import { z } from 'zod';
import { run, statements } from '../../database/statements/statements.ts';
import type { Row } from '../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../database/transactions/transaction.ts';
import { enqueueMessages, type LockedDestination } from '../../events/enqueue-messages.ts';
import { invalid, notFound } from '../../kernel/errors.ts';
import { id } from '../../kernel/ids.ts';
import { projectMutation } from '../access/declared-mutation.ts';
import { projectIdOrName } from '../base/names.ts';

export const TEST_MESSAGE_TYPE = 'test.message';

/** The body of a test message. Its type is not a type of events, so no route or list includes it. */
export const testMessage = z.object({
  notificationType: z
    .literal(TEST_MESSAGE_TYPE)
    .describe('Always `test.message`. It reports no event.'),
  data: z
    .object({
      projectId: z.string().describe('The id of the project.'),
      destinationId: z.string().describe('The id of the destination.'),
      destinationName: z.string().describe("The destination's name."),
    })
    .describe('The destination that was tested.'),
});

const sendTestMessageInput = z
  .object({ projectIdOrName, destinationId: id.describe('The id of the destination.') })
  .meta({ id: 'SendTestMessageInput', description: 'The destination to test.' });

/** If the destination is disabled, the message stays pending until the destination is enabled. */
export const sendTestMessage = projectMutation({
  description: 'Sends a message of the type `test.message` to a webhook, as an ordinary delivery.',
  needs: 'events:write',
  input: sendTestMessageInput,
  async run(call, { destinationId: id }, { id: projectId }): Promise<Row<'Delivery'>> {
    return inTransaction(call.database, async (tx) => {
      const destination = await lockWebhook(tx, projectId, id);
      const data = { projectId, destinationId: id, destinationName: destination.name };
      const body = JSON.stringify({ notificationType: TEST_MESSAGE_TYPE, data });
      const deliveryIds = await enqueueMessages(tx, destination, {
        messages: [{ body }],
        subject: null,
      });
      const where = { projectId, id: { in: deliveryIds } };
      return tx.delivery.findFirstOrThrow({ where, omit: { body: true } });
    });
  },
});

/**
 * Returns a webhook, and locks it against deletion until the transaction ends. Throws NOT_FOUND, or BAD_USER_INPUT for a
 * stream.
 */
async function lockWebhook(
  tx: Transaction,
  projectId: string,
  id: string,
): Promise<LockedDestination & { name: string }> {
  const columns = ['id', 'projectId', 'type', 'name'] as const;
  const [destination] = await run(
    tx,
    statements
      .selectFrom('Destination')
      .select(columns)
      .where('projectId', '=', projectId)
      .where('id', '=', id)
      .forKeyShare(),
  );
  if (!destination) throw notFound('Destination', id);
  if (destination.type === 'WEBHOOK') return destination;
  throw invalid(['destinationId'], 'is a stream. Only webhooks receive test messages.', id);
}
