import { operationResource } from '../../domain/operation/operation.ts';
import {
  EXCLUSIVE_OPERATION_FILTERS,
  listInstallationOperations,
  listOperations,
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
    description: 'The integration of the operation. Null if it was deleted.',
  }),
  installation: linkField(t, {
    type: Installation,
    table: 'Installation',
    column: 'installationId',
    description: 'The installation of the operation. Null if it was deleted.',
  }),
}));

addList(Project, 'operations', Operations, listOperations, {
  filters: projectOperationFilters,
  exclusive: EXCLUSIVE_OPERATION_FILTERS,
});

addList(Installation, 'operations', Operations, listInstallationOperations, {
  filters: operationFilters,
});
