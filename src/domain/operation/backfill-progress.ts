/** How far the first read of an object has come. */
import type { Row } from '../../database/rows.ts';
import { notFound } from '../../errors.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import { getInstallationOf } from '../installation/installation.ts';
import type { IntegrationKey } from '../integration/integration.ts';
import { contentOf } from '../integration/integration-content.ts';
import { latestRevisions } from '../integration/revision.ts';
import { byId } from '../scope.ts';
import { orEndUser } from '../viewer/needs.ts';
import { metadataOf } from './operation.ts';
import { nativeName } from './read/read-plan.ts';

export interface BackfillProgress {
  installationId: string;
  /** The provider's. */
  objectName: string;
  operation: Row<'Operation'>;
  recordsProcessed: number;
  /** Null if the provider does not say it. */
  recordsEstimatedTotal: number | null;
}

/** The object is named by either name. Throws NOT_FOUND before its first read began, and once that is forgotten. */
export const getBackfillProgress = read(
  orEndUser('read'),
  async (
    call: Call,
    { objectName: name, ...key }: IntegrationKey & { installationId: string; objectName: string },
  ): Promise<BackfillProgress> => {
    const { id: installationId, projectId, integrationId } = await getInstallationOf(call, key);
    const [revision] = await latestRevisions(call, [integrationId]);
    const objectName = (revision && nativeName(call, contentOf(revision), name)) ?? name;
    const [object] = await call.database.rows.find('InstalledObject', {
      projectId,
      installationId,
      objectName,
    });
    if (!object) throw notFound('The object in the installation', name);
    const operationId = object.backfillOperationId;
    const [operation] = operationId ? await byId('Operation')(call, [operationId]) : [];
    if (!operation) throw notFound('A first read of', name);
    const { progress } = metadataOf(operation);
    return {
      installationId,
      objectName,
      operation,
      recordsProcessed: progress?.recordsProcessed ?? 0,
      recordsEstimatedTotal: progress?.recordsEstimatedTotal ?? null,
    };
  },
);
