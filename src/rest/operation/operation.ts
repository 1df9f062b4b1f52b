import { z } from 'zod';
import { getInstallation } from '../../domain/installation/installation.ts';
import { integrationIdOrName } from '../../domain/integration/integration.ts';
import { projectIdOrName } from '../../domain/names.ts';
import {
  getOperation,
  listInstallationOperations,
  listOperations,
} from '../../domain/operation/operation.ts';
import { listOperationLogs } from '../../domain/operation/operation-log.ts';
import { getProject } from '../../domain/scope.ts';
import { id } from '../../ids.ts';
import { endpoint } from '../endpoint/endpoint.ts';
import { listEndpoint, pagedEndpoint } from '../endpoint/list.ts';
import { operationLog, showOperationLog } from './operation-log.ts';
import { operation, operationFilters, showOperation } from './operation-view.ts';

const tag = 'Operations';
const path = '/projects/{projectIdOrName}/operations';
const operationId = id.describe('The operation.');

export const operationEndpoints = [
  pagedEndpoint({
    id: 'listOperations',
    path: '/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}/operations',
    tag,
    summary: "Lists an installation's operations, newest first.",
    needs: 'read',
    input: z.object({
      projectIdOrName,
      integrationIdOrName,
      installationId: id.describe('The installation.'),
      ...operationFilters,
    }),
    places: { integrationIdOrName: { in: 'path', name: 'integrationId' } },
    item: operation,
    async list({ call }, input) {
      const installation = await getInstallation(call, input, 'read');
      return listInstallationOperations(call, installation, input);
    },
    show: showOperation,
  }),
  pagedEndpoint({
    id: 'listProjectOperations',
    path,
    tag,
    summary: "Lists a project's operations, newest first, also those of what has been deleted.",
    needs: 'read',
    input: z.object({ projectIdOrName, ...operationFilters }),
    item: operation,
    async list({ call }, { projectIdOrName: project, ...args }) {
      return listOperations(call, await getProject(call, project, 'read'), args);
    },
    show: showOperation,
  }),
  endpoint({
    id: 'getOperation',
    method: 'GET',
    path: `${path}/{operationId}`,
    tag,
    summary: 'Gives an operation.',
    needs: 'read',
    input: z.object({ projectIdOrName, operationId }),
    status: 200,
    output: operation,
    run: async ({ call }, input) => showOperation(await getOperation(call, input)),
  }),
  listEndpoint({
    id: 'listOperationLogs',
    path: `${path}/{operationId}/logs`,
    tag,
    summary: "Lists an operation's log, oldest first.",
    needs: 'read',
    input: z.object({ projectIdOrName, operationId }),
    item: operationLog,
    async list({ call }, input) {
      return listOperationLogs(call, await getOperation(call, input), input);
    },
    show: showOperationLog,
  }),
];
