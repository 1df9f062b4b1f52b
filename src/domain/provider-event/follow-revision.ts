/** Applies a new revision to the subscriptions of its installations. */
import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../database/transaction.ts';
import type { Services } from '../call.ts';
import { iterateInstallations } from '../installation/check/revision-impacts.ts';
import type { RevisionChange } from '../integration/integration-content.ts';
import { reconcileSubscriptions } from './object-subscription.ts';

/** Must run last in the transaction of the revision. */
export async function followRevision(
  services: Pick<Services, 'catalog' | 'now'>,
  tx: Transaction,
  { projectId, integrationId, before, content }: RevisionChange,
): Promise<void> {
  if (!before.subscribe && !content.subscribe) return;
  const isSame = (section: 'subscribe' | 'read') =>
    isDeepStrictEqual(before[section], content[section]);
  if (isSame('subscribe') && isSame('read')) return;
  for await (const batch of iterateInstallations(tx, { projectId, integrationId })) {
    for (const { installation, config } of batch) {
      await reconcileSubscriptions(services, tx, { installation, content, config });
    }
  }
}
