/** Which installations watch the fields at their provider: those whose integration says so. */
import type { Transaction } from '../../database/transaction.ts';
import type { Services } from '../call.ts';
import type { IntegrationContent } from '../integration/integration-content.ts';

interface Installation {
  id: string;
  projectId: string;
}

/** Begins to watch; the first look only learns. To be called in the transaction that makes an installation. */
export async function followSchema(
  { now }: Pick<Services, 'now'>,
  tx: Transaction,
  { installation, content }: { installation: Installation; content: IntegrationContent },
): Promise<void> {
  if (!content.watchSchema) return;
  const { projectId, id: installationId } = installation;
  await tx.schemaWatch.createMany({ data: { projectId, installationId, dueTime: now() } });
}

interface RevisionChange {
  projectId: string;
  integrationId: string;
  before: IntegrationContent;
  content: IntegrationContent;
}

/** Of all installations of an integration. To be called in the transaction of the revision. */
export async function followSchemaOfRevision(
  { now }: Pick<Services, 'now'>,
  tx: Transaction,
  { projectId, integrationId, before, content }: RevisionChange,
): Promise<void> {
  // What a stored revision has not said is not there.
  const [was, is] = [Boolean(before.watchSchema), Boolean(content.watchSchema)];
  if (was === is) return;
  if (is) {
    await tx.$executeRaw`
      insert into "SchemaWatch" ("projectId", "installationId", "dueTime")
      select "projectId", "id", ${now()} from "Installation"
      where "projectId" = ${projectId} and "integrationId" = ${integrationId}
      on conflict do nothing`;
  } else {
    const installation = { projectId, integrationId };
    await tx.schemaWatch.deleteMany({ where: { projectId, installation } });
  }
}
