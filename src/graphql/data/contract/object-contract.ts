import {
  type Contract,
  contractResource,
} from '../../../domain/data/contract/contract-resource.ts';
import {
  listInstallationContracts,
  listProjectContracts,
  listRevisionContracts,
} from '../../../domain/data/contract/read-contract.ts';
import { describeField } from '../../schema/fields.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';
import { Installation, Project, Revision } from '../../schema/types.ts';

const ContractType = objectType(builder.objectRef<Contract>('Contract'), contractResource);

builder.objectField(Revision, 'contract', (t) =>
  t.field({
    ...describeField(listRevisionContracts),
    type: ContractType,
    nullable: true,
    resolve: (revision, _args, { find }) => find(listRevisionContracts, revision),
  }),
);

builder.objectField(Installation, 'contract', (t) =>
  t.field({
    ...describeField(listInstallationContracts),
    type: ContractType,
    nullable: true,
    resolve: (installation, _args, { find }) => find(listInstallationContracts, installation),
  }),
);

builder.objectField(Project, 'contract', (t) =>
  t.field({
    ...describeField(listProjectContracts),
    type: ContractType,
    nullable: true,
    // DataLoader rejects the items that are errors.
    resolve: (project, _args, { find }) => find(listProjectContracts, project) as Promise<Contract>,
  }),
);
