/** Applies a new revision to the subscriptions of its installations. */
import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../database/transaction.ts';
import type { Services } from '../call.ts';
import { readConfigContent } from '../installation/installation-config.ts';
import type { IntegrationContent } from '../integration/integration-content.ts';
import { reconcileSubscriptions } from './object-subscription.ts';

const INSTALLATIONS_PER_BATCH = 500;

interface RevisionChange {
  projectId: string;
  integrationId: string;
  before: IntegrationContent;
  content: IntegrationContent;
}

/** Must run last in the transaction of the revision. */
export async function followRevision(
  services: Pick<Services, 'catalog' | 'now'>,
  tx: Transaction,
  { projectId, integrationId, before, content }: RevisionChange,
): Promise<void> {
  if (!before.subscribe && !content.subscribe) return;
  const isSame = (part: 'subscribe' | 'read') => isDeepStrictEqual(before[part], content[part]);
  if (isSame('subscribe') && isSame('read')) return;
  let afterId = '';
  let count: number;
  do {
    const installations = await tx.installation.findMany({
      where: { projectId, integrationId, id: { gt: afterId } },
      orderBy: { id: 'asc' },
      take: INSTALLATIONS_PER_BATCH,
    });
    const configs = await tx.installationConfig.findMany({
      where: { projectId, id: { in: installations.map(({ configId }) => configId) } },
    });
    const configsById = new Map(configs.map((config) => [config.id, readConfigContent(config)]));
    for (const installation of installations) {
      const config = configsById.get(installation.configId) ?? { read: [], write: [] };
      await reconcileSubscriptions(services, tx, { installation, content, config });
    }
    afterId = installations.at(-1)?.id ?? afterId;
    count = installations.length;
  } while (count === INSTALLATIONS_PER_BATCH);
}
