/** Shows users the work on a subscription, as an operation of its installation. */
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { type Text, text } from '../../../kernel/text.ts';
import type { Services } from '../../access/call.ts';
import { createOperation, logOperation, updateOperation } from '../operation/operation-work.ts';
import type { ObjectSubscription } from './object-subscription.ts';

type LoggedSubscription = Pick<
  ObjectSubscription,
  'projectId' | 'installationId' | 'objectName' | 'kinds'
>;

/** Returns the id of the operation. Null if the installation was deleted. */
export async function logSubscribe(
  services: Pick<Services, 'now'>,
  tx: Transaction,
  { projectId, installationId, objectName, kinds }: LoggedSubscription,
  { status, result }: { status: 'SUCCESS' | 'FAILURE'; result: Text },
): Promise<string | null> {
  const installation = await tx.installation.findUnique({
    where: { projectId_id: { projectId, id: installationId } },
  });
  if (!installation) return null;
  const metadata = { objects: [objectName] };
  const operation = await createOperation(tx, { installation, actionType: 'SUBSCRIBE', metadata });
  const severity = status === 'SUCCESS' ? 'INFO' : 'ERROR';
  const message = text`[${objectName}] ${result}`;
  await logOperation(tx, operation, { severity, message, details: { kinds } });
  await updateOperation(tx, operation, { status, result: message, metadata, now: services.now() });
  return operation.id;
}
