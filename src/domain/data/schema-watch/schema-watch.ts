/** Starts and stops schema watches when an installation is created or its integration has a new revision. */

import { run, sql } from '../../../database/statements/statements.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import type { Services } from '../../access/call.ts';
import type {
  IntegrationContent,
  RevisionChange,
} from '../../integrations/integration/integration-content.ts';

interface Installation {
  id: string;
  projectId: string;
}

/** Starts a watch. Its first poll only stores the fields. Must run in the transaction that creates the installation. */
export async function followSchema(
  { now }: Pick<Services, 'now'>,
  tx: Transaction,
  { installation, content }: { installation: Installation; content: IntegrationContent },
): Promise<void> {
  if (!content.watchSchema) return;
  const { projectId, id: installationId } = installation;
  await tx.schemaWatch.createMany({ data: { projectId, installationId, dueTime: now() } });
}

/** Starts or stops the watches of all installations of an integration. Must run in the transaction of the revision. */
export async function followSchemaOfRevision(
  { now }: Pick<Services, 'now'>,
  tx: Transaction,
  { projectId, integrationId, before, after: content }: RevisionChange,
): Promise<void> {
  // Older revisions have no member `watchSchema`.
  const wasWatched = Boolean(before.watchSchema);
  const isWatched = Boolean(content.watchSchema);
  if (wasWatched === isWatched) return;
  if (isWatched) {
    const query = sql`
      insert into "SchemaWatch" ("projectId", "installationId", "dueTime")
      select "projectId", "id", ${now()} from "Installation"
      where "projectId" = ${projectId} and "integrationId" = ${integrationId}
      on conflict do nothing`;
    await run(tx, query);
  } else {
    const installation = { projectId, integrationId };
    await tx.schemaWatch.deleteMany({ where: { projectId, installation } });
  }
}
