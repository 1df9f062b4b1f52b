import { z } from 'zod';
import { readWithin } from '../../domain/declared-read.ts';
import { getInstallation } from '../../domain/installation/installation.ts';
import { integrationIdOrName } from '../../domain/integration/integration.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getOperation } from '../../domain/operation/operation.ts';
import {
  listInstallationOperations,
  listOperations,
  operationFilters,
  projectOperationFilters,
} from '../../domain/operation/operation-list.ts';
import { listOperationLogs, type OperationLog } from '../../domain/operation/operation-log.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import { id } from '../../ids.ts';
import { listEndpoint, pagedEndpoint } from '../endpoint/list.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { createdWithin, withCreatedParameters } from '../endpoint/time-parameters.ts';
import { resource } from '../openapi/schemas.ts';
import { operation, showOperation } from './operation-view.ts';

const operationLog = resource('OperationLog', 'A line of the log of an operation.', {
  timestamp: z.date().describe('When it was written.'),
  severity: z.string().describe('DEBUG, INFO, WARNING or ERROR.'),
  message: z
    .object({
      msg: z.string().describe('What happened, for people.'),
      operation_id: z.string().describe('The id of the operation.'),
      details: z
        .record(z.string(), z.string())
        .optional()
        .describe('Facts in addition to the message, by name. Values that are not text are JSON.'),
    })
    .describe('The message and its facts.'),
});

function showOperationLog({ operationId, message, details, ...row }: OperationLog) {
  return {
    ...row,
    message: {
      msg: message,
      operation_id: operationId,
      details: details ? showDetails(details) : undefined,
    },
  };
}

function showDetails(details: NonNullable<OperationLog['details']>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(details).map(([name, fact]) => [
      name,
      typeof fact === 'string' ? fact : JSON.stringify(fact),
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
      ...withCreatedParameters(operationFilters.shape),
    }),
    places: { integrationIdOrName: { in: 'path', name: 'integrationId' } },
    item: operation,
    list: createdWithin(readWithin(getInstallation, listInstallationOperations)),
    show: showOperation,
  }),
  pagedEndpoint({
    id: 'listProjectOperations',
    path,
    tag,
    input: z.object({ projectIdOrName, ...withCreatedParameters(projectOperationFilters.shape) }),
    item: operation,
    list: createdWithin(readWithin(getOwnProject, listOperations)),
    show: showOperation,
  }),
  readEndpoint({
    id: 'getOperation',
    path: `${path}/{operationId}`,
    tag,
    input: z.object({ projectIdOrName, operationId }),
    read: getOperation,
    output: operation,
    show: showOperation,
  }),
  listEndpoint({
    id: 'listOperationLogs',
    path: `${path}/{operationId}/logs`,
    tag,
    input: z.object({ projectIdOrName, operationId }),
    item: operationLog,
    list: readWithin(getOperation, listOperationLogs),
    show: showOperationLog,
  }),
];
