import { operationResource } from '../../domain/operation/operation.ts';
import {
  listInstallationOperations,
  listOperations,
  OPERATION_EXCLUSIVE,
  operationFilters,
  projectOperationFilters,
} from '../../domain/operation/operation-list.ts';
import { linkField } from '../schema/fields.ts';
import { addList } from '../schema/lists.ts';
import { objectType } from '../schema/object-type.ts';
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

addList(Project, 'operations', Operations, listOperations, {
  filters: projectOperationFilters,
  exclusive: OPERATION_EXCLUSIVE,
});

addList(Installation, 'operations', Operations, listInstallationOperations, {
  filters: operationFilters,
});
