/** The progress of an object's backfill: its first read, which reads the existing records. */

import { z } from 'zod';
import { notFound } from '../../../kernel/errors.ts';
import type { Call } from '../../access/call.ts';
import { inProject } from '../../access/catalog.ts';
import { read } from '../../access/declared-read.ts';
import { byId } from '../../access/scope.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { resource, updateTime } from '../../base/resource.ts';
import { getInstallationByKey } from '../../integrations/installation/installation.ts';
import type { IntegrationKey } from '../../integrations/integration/integration.ts';
import { readIntegrationContent } from '../../integrations/integration/integration-content.ts';
import { loadLatestRevisions } from '../../integrations/integration/revision.ts';
import { operationProgressResource, parseOperationMetadata } from './operation.ts';
import { findProviderName } from './read/read-plan.ts';

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
    key: IntegrationKey & { installationId: string; objectName: string },
  ): Promise<z.output<typeof backfillProgressResource>> => {
    const installation = await getInstallationByKey(call, key);
    const [revision] = await loadLatestRevisions(call, [installation.integrationId]);
    const content = revision && readIntegrationContent(revision);
    const projectCall = await inProject(call, installation.projectId);
    const objectName =
      (content && findProviderName(projectCall, content, key.objectName)) ?? key.objectName;
    const [object] = await call.database.reads.find('InstalledObject', {
      projectId: installation.projectId,
      installationId: installation.id,
      objectName,
    });
    if (!object) throw notFound('The object in the installation', key.objectName);
    const operationId = object.backfillOperationId;
    const [operation] = operationId ? await byId('Operation')(call, [operationId]) : [];
    if (!operation) throw notFound('A first read of', key.objectName);
    const { progress } = parseOperationMetadata(operation);
    return {
      operationId: operation.id,
      installationId: installation.id,
      objectName,
      recordsProcessed: progress?.recordsProcessed ?? 0,
      recordsEstimatedTotal: progress?.recordsEstimatedTotal ?? null,
      createTime: operation.createTime,
      updateTime: operation.updateTime,
    };
  },
);
