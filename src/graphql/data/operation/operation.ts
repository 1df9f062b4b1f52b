import {
  type OperationLog as LogLine,
  listOperationLogs,
  operationLogResource,
  operationResource,
} from '../../../domain/data/operation/operation.ts';
import {
  EXCLUSIVE_OPERATION_FILTERS,
  listInstallationOperations,
  listOperations,
  operationFilters,
  projectOperationFilters,
} from '../../../domain/data/operation/operation-list.ts';
import { pauseReads, resumeReads } from '../../../domain/data/operation/read/pause.ts';
import { triggerRead } from '../../../domain/data/operation/read/trigger.ts';
import { linkField } from '../../schema/fields.ts';
import { addList } from '../../schema/lists.ts';
import { addMutations } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';
import {
  addConnection,
  Installation,
  InstallationConfig,
  Integration,
  Operation,
  Project,
} from '../../schema/types.ts';

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
  config: linkField(t, {
    type: InstallationConfig,
    table: 'InstallationConfig',
    column: 'configId',
    description:
      'The config that the installation had when the operation began. Null if the installation was deleted.',
  }),
}));

addList(Project, 'operations', Operation, listOperations, {
  filters: projectOperationFilters,
  exclusive: EXCLUSIVE_OPERATION_FILTERS,
});

addList(Installation, 'operations', Operation, listInstallationOperations, {
  filters: operationFilters,
});

const OperationLog = objectType(builder.objectRef<LogLine>('OperationLog'), operationLogResource);

addConnection(OperationLog, 'lines of a log');

addList(Operation, 'logs', OperationLog, listOperationLogs);

addMutations('operation', Operation, { triggerRead });
addMutations('installation', Installation, { pauseReads, resumeReads });
