import { z } from 'zod';
import { integrationIdOrName } from '../../domain/integration/integration.ts';
import { projectIdOrName } from '../../domain/names.ts';
import {
  backfillProgressResource,
  getBackfillProgress,
} from '../../domain/operation/backfill-progress.ts';
import { id } from '../../ids.ts';
import { integrationInPath } from '../endpoint/locations.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';

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
      .describe("The object's mapped name, or its name at the provider."),
  }),
  locations: integrationInPath,
  read: getBackfillProgress,
  resource: backfillProgressResource,
});
