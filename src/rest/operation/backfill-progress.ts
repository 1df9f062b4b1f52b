import { z } from 'zod';
import { integrationIdOrName } from '../../domain/integration/integration.ts';
import { projectIdOrName } from '../../domain/names.ts';
import {
  type BackfillProgress,
  getBackfillProgress,
} from '../../domain/operation/backfill-progress.ts';
import { id } from '../../ids.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { resource } from '../openapi/schemas.ts';
import { progressShape } from './operation-view.ts';

const backfillProgress = resource(
  'BackfillProgress',
  'How far the first read of an object has come.',
  {
    ...progressShape,
    createTime: z.date().describe('When the read began.'),
    updateTime: z.date().optional().describe('When the operation was last changed.'),
  },
);

export const backfillProgressEndpoint = readEndpoint({
  id: 'getBackfillProgress',
  path: '/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}/objects/{objectName}/backfill-progress',
  tag: 'Installations',
  input: z.object({
    projectIdOrName,
    integrationIdOrName,
    installationId: id.describe('The id of the installation.'),
    objectName: z
      .string()
      .min(1)
      .max(256)
      .describe("The name of the object: the mapped one or the provider's."),
  }),
  places: { integrationIdOrName: { in: 'path', name: 'integrationId' } },
  read: getBackfillProgress,
  output: backfillProgress,
  show: showProgress,
});

function showProgress({ operation, recordsEstimatedTotal, ...progress }: BackfillProgress) {
  const { id: operationId, createTime, updateTime } = operation;
  return {
    ...progress,
    operationId,
    recordsEstimatedTotal: recordsEstimatedTotal ?? undefined,
    createTime,
    updateTime: updateTime ?? undefined,
  };
}
