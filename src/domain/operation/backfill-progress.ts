/** The progress of an object's backfill: its first read, which reads the existing records. */
import { z } from 'zod';
import { notFound } from '../../errors.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import { getInstallationByKey } from '../installation/installation.ts';
import type { IntegrationKey } from '../integration/integration.ts';
import { readIntegrationContent } from '../integration/integration-content.ts';
import { findLatestRevisions } from '../integration/revision.ts';
import { resource, updateTime } from '../resource.ts';
import { byId } from '../scope.ts';
import { orEndUser } from '../viewer/needs.ts';
import { operationProgressResource, parseOperationMetadata } from './operation.ts';
import { findNativeName } from './read/read-plan.ts';

export const backfillProgressResource = resource(
  'BackfillProgress',
  "The progress of an object's backfill.",
  {
    ...operationProgressResource.shape,
    createTime: z.date().describe('When the read began.'),
    updateTime,
  },
);

/**
 * Accepts the provider's name of the object or the mapped one. Throws NOT_FOUND before the first read begins, and after
 * its operation has expired.
 */
export const getBackfillProgress = read(
  orEndUser('read'),
  "Gets the progress of an object's backfill.",
  async (
    call: Call,
    { objectName: name, ...key }: IntegrationKey & { installationId: string; objectName: string },
  ): Promise<z.output<typeof backfillProgressResource>> => {
    const { id: installationId, projectId, integrationId } = await getInstallationByKey(call, key);
    const [revision] = await findLatestRevisions(call, [integrationId]);
    const objectName =
      (revision && findNativeName(call, readIntegrationContent(revision), name)) ?? name;
    const [object] = await call.database.rows.find('InstalledObject', {
      projectId,
      installationId,
      objectName,
    });
    if (!object) throw notFound('The object in the installation', name);
    const operationId = object.backfillOperationId;
    const [operation] = operationId ? await byId('Operation')(call, [operationId]) : [];
    if (!operation) throw notFound('A first read of', name);
    const { progress } = parseOperationMetadata(operation);
    return {
      operationId: operation.id,
      installationId,
      objectName,
      recordsProcessed: progress?.recordsProcessed ?? 0,
      recordsEstimatedTotal: progress?.recordsEstimatedTotal ?? null,
      createTime: operation.createTime,
      updateTime: operation.updateTime,
    };
  },
);
