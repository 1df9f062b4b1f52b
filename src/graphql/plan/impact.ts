import type { Impact } from '../../domain/installation/check/revision-impacts.ts';
import { byId } from '../../domain/scope.ts';
import { builder } from '../schema/schema-builder.ts';
import { Group, Installation } from '../schema/types.ts';

const ImpactedInstallation = builder
  .objectRef<Impact['installations'][number]>('ImpactedInstallation')
  .implement({
    description: 'An installation that a change breaks.',
    fields: (t) => ({
      installationId: t.exposeID('installationId', { description: 'The id of the installation.' }),
      installation: t.field({
        type: Installation,
        nullable: true,
        description: 'The installation. Null if it was deleted since.',
        resolve: ({ installationId }, _args, { find }) =>
          find(byId('Installation'), installationId),
      }),
      groupId: t.exposeID('groupId', { description: 'The id of the group that installed it.' }),
      group: t.field({
        type: Group,
        nullable: true,
        description: 'The group that installed it. Null if it was erased since.',
        resolve: ({ groupId }, _args, { find }) => find(byId('Group'), groupId),
      }),
    }),
  });

export const ImpactType = builder.objectRef<Impact>('Impact').implement({
  description:
    'A reason for which a change breaks installations: their config is valid for the revision in force and not for the new one, or their account lacks a field that becomes required.',
  fields: (t) => ({
    integrationName: t.exposeString('integrationName', {
      description: 'The name of the integration.',
    }),
    path: t.exposeString('path', {
      description:
        'The part of the config, like `read.contacts.fieldMappings`. Empty for the whole installation.',
    }),
    reason: t.exposeString('reason', { description: 'The reason, for people.' }),
    installationTotal: t.exposeInt('installationTotal', {
      description: 'The number of installations of the integration.',
    }),
    installations: t.field({
      type: [ImpactedInstallation],
      description: 'The installations that break for this reason, at most 10,000.',
      resolve: ({ installations }) => installations,
    }),
  }),
});
