import type { SandboxRequest, SandboxResponse } from '../request.ts';
import type { SandboxRoute } from '../router.ts';
import { putField } from './defining.ts';
import type { IdempotencyKeys } from './idempotency.ts';
import { describeObject, getRecord, listObjects, listRecords, readBatch } from './reading.ts';
import type { Workspace } from './workspace.ts';
import {
  createBatch,
  createRecord,
  deleteRecord,
  mergeRecords,
  restoreRecord,
  updateBatch,
  updateRecord,
} from './writing.ts';

type RecordHandler = (workspace: Workspace, request: SandboxRequest) => SandboxResponse;

export function createRecordRoutes(
  workspace: Workspace,
  idempotencyKeys: IdempotencyKeys,
): SandboxRoute[] {
  const route = (method: string, path: string, handler: RecordHandler): SandboxRoute => ({
    method,
    pattern: `/objects${path}`,
    handle: (request) => handler(workspace, request),
  });
  const routeOnce = (path: string, handler: RecordHandler): SandboxRoute => ({
    method: 'POST',
    pattern: `/objects${path}`,
    handle: (request) => idempotencyKeys.runOnce(request, () => handler(workspace, request)),
  });
  return [
    route('GET', '', listObjects),
    route('GET', '/:object', describeObject),
    route('PUT', '/:object/fields/:name', putField),
    route('GET', '/:object/records', listRecords),
    route('GET', '/:object/records/:id', getRecord),
    routeOnce('/:object/records', createRecord),
    route('PATCH', '/:object/records/:id', updateRecord),
    route('DELETE', '/:object/records/:id', deleteRecord),
    routeOnce('/:object/batch/create', createBatch),
    routeOnce('/:object/batch/update', updateBatch),
    route('POST', '/:object/batch/read', readBatch),
    route('POST', '/:object/records/:id/merge', mergeRecords),
    route('POST', '/:object/records/:id/restore', restoreRecord),
  ];
}
