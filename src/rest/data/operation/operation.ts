import { z } from 'zod';
import type { Call } from '../../../domain/access/call.ts';
import { readWithin } from '../../../domain/access/declared-read.ts';
import { projectIdOrName } from '../../../domain/base/names.ts';
import { computed } from '../../../domain/base/resource.ts';
import { printColumn } from '../../../domain/base/stored-text.ts';
import {
  backfillProgressResource,
  getBackfillProgress,
} from '../../../domain/data/operation/backfill-progress.ts';
import {
  getOperation,
  listOperationLogs,
  type OperationLog,
  operationLogResource,
  operationResource,
  printDetails,
} from '../../../domain/data/operation/operation.ts';
import {
  listInstallationOperations,
  listOperations,
  operationFilters,
  projectOperationFilters,
} from '../../../domain/data/operation/operation-list.ts';
import { getInstallation } from '../../../domain/integrations/installation/installation.ts';
import { integrationIdOrName } from '../../../domain/integrations/integration/integration.ts';
import { getRequestedProject } from '../../../domain/tenants/project/project.ts';
import { id } from '../../../kernel/ids.ts';
import { integrationInPath } from '../../endpoint/request-form.ts';
import {
  joinCreateTime,
  listEndpoint,
  pagedEndpoint,
  readEndpoint,
  splitCreateTime,
} from '../../endpoint/resource-endpoints.ts';
import { extendResource } from '../../openapi/response-form.ts';

const operationLog = extendResource(operationLogResource, {
  severity: z.string().describe('DEBUG, INFO, WARNING or ERROR.'),
  details: null,
  message: computed(
    z
      .object({
        msg: z.string().describe('A human-readable message.'),
        operation_id: z.string().describe('The id of the operation.'),
        details: z
          .record(z.string(), z.string())
          .optional()
          .describe(
            'Values in addition to the message, by name. Values that are not strings are JSON.',
          ),
      })
      .describe('The message and its details.'),
    ({ message, operationId, details }: OperationLog, call: Call) => {
      const shownDetails = printDetails(call, details);
      return {
        msg: printColumn(call, message),
        operation_id: operationId,
        details: shownDetails ? showDetails(shownDetails) : undefined,
      };
    },
  ),
});

function showDetails(details: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}

const tag = 'Operations';
const path = '/projects/{projectIdOrName}/operations';
const operationId = id.describe('The id of the operation.');

export const operationEndpoints = [
  pagedEndpoint({
    id: 'listOperations',
    path: '/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}/operations',
    tag,
    input: z.object({
      projectIdOrName,
      integrationIdOrName,
      installationId: id.describe('The id of the installation.'),
      ...splitCreateTime(operationFilters.shape),
    }),
    locations: integrationInPath,
    list: joinCreateTime(readWithin(getInstallation, listInstallationOperations)),
    resource: operationResource,
  }),
  pagedEndpoint({
    id: 'listProjectOperations',
    path,
    tag,
    input: z.object({ projectIdOrName, ...splitCreateTime(projectOperationFilters.shape) }),
    list: joinCreateTime(readWithin(getRequestedProject, listOperations)),
    resource: operationResource,
  }),
  readEndpoint({
    id: 'getOperation',
    path: `${path}/{operationId}`,
    tag,
    input: z.object({ projectIdOrName, operationId }),
    read: getOperation,
    resource: operationResource,
  }),
  listEndpoint({
    id: 'listOperationLogs',
    path: `${path}/{operationId}/logs`,
    tag,
    input: z.object({ projectIdOrName, operationId }),
    list: readWithin(getOperation, listOperationLogs),
    resource: operationLog,
  }),
];

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
