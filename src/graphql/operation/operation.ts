import { operationResource } from '../../domain/operation/operation.ts';
import {
  listInstallationOperations,
  listOperations,
  OPERATION_EXCLUSIVE,
  operationFilters,
  projectOperationFilters,
} from '../../domain/operation/operation-list.ts';
import { linkField, listField } from '../schema/fields.ts';
import { objectType } from '../schema/object-type.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { builder } from '../schema/schema-builder.ts';
import { Installation, Integration, Operation, Operations, Project } from '../schema/types.ts';

objectType(Operation, operationResource, (t) => ({
  integration: linkField(t, {
    type: Integration,
    table: 'Integration',
    column: 'integrationId',
    description: 'Its integration; null if that has been deleted.',
  }),
  installation: linkField(t, {
    type: Installation,
    table: 'Installation',
    column: 'installationId',
    description: 'Its installation; null if that has been deleted.',
  }),
}));

builder.objectField(Project, 'operations', (t) =>
  listField(t, Operations, {
    args: parsedArgs(t.arg, projectOperationFilters),
    exclusive: OPERATION_EXCLUSIVE,
    list: listOperations,
  }),
);

builder.objectField(Installation, 'operations', (t) =>
  listField(t, Operations, {
    args: parsedArgs(t.arg, operationFilters),
    list: listInstallationOperations,
  }),
);
