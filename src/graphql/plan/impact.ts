import {
  type Impact,
  impactedInstallationResource,
  impactResource,
} from '../../domain/installation/check/impacts.ts';
import { byId } from '../../domain/scope.ts';
import { objectType } from '../schema/object-type.ts';
import { builder } from '../schema/schema-builder.ts';
import { Group, Installation } from '../schema/types.ts';

objectType(
  builder.objectRef<Impact['installations'][number]>('ImpactedInstallation'),
  impactedInstallationResource,
  (t) => ({
    installation: t.field({
      type: Installation,
      nullable: true,
      description: 'The installation. Null if it was deleted since.',
      resolve: ({ installationId }, _args, { find }) => find(byId('Installation'), installationId),
    }),
    group: t.field({
      type: Group,
      nullable: true,
      description: 'The group that installed it. Null if it was erased since.',
      resolve: ({ groupId }, _args, { find }) => find(byId('Group'), groupId),
    }),
  }),
);

export const ImpactType = objectType(builder.objectRef<Impact>('Impact'), impactResource);
