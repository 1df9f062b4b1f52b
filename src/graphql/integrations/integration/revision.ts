import { byId } from '../../../domain/access/scope.ts';
import { printTexts } from '../../../domain/base/stored-text.ts';
import {
  type Impact,
  impactedInstallationResource,
  impactResource,
} from '../../../domain/integrations/installation/check/impacts.ts';
import {
  createRevision,
  listRevisions,
  revisionResource,
} from '../../../domain/integrations/integration/revision.ts';
import type { Text } from '../../../kernel/text.ts';
import { addList } from '../../schema/lists.ts';
import { addMutation, describeResult } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder, type Types } from '../../schema/schema-builder.ts';
import { Group, Installation, Integration, Revision } from '../../schema/types.ts';

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

const ImpactType = objectType(builder.objectRef<Impact>('Impact'), impactResource);

objectType(Revision, revisionResource);

addList(Integration, 'revisions', Revision, listRevisions);

const WARNINGS =
  'Members that were accepted and ignored, each with its path and the reason, and names of objects and fields that are probably misspelled, each with the nearest standard name of the provider. If fields are named twice, the last one applies.';

/** Creates the field for the warnings about an accepted content. */
export function warningsField<P extends { warnings: Text[] }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<Types, P>,
) {
  return t.stringList({
    description: WARNINGS,
    resolve: ({ warnings }, _args, { call }) => printTexts(call, warnings),
  });
}

/** Creates the field for the installations that new revisions break. */
export function impactsField<P extends { impacts: Impact[] }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<Types, P>,
) {
  return t.field({
    type: [ImpactType],
    nullable: true,
    description:
      'The installations that the new content breaks, by reason, as far as the gateway knows the fields of their accounts.',
    resolve: ({ impacts }) => impacts,
  });
}

const CreateRevisionPayload = builder
  .objectRef<Awaited<ReturnType<typeof createRevision>>>('CreateRevisionPayload')
  .implement({
    description: describeResult('createRevision'),
    fields: (t) => ({
      revision: t.expose('revision', {
        type: Revision,
        description: 'The revision, which is now active.',
      }),
      integration: t.expose('integration', {
        type: Integration,
        description: 'The integration, with the revision as its latest.',
      }),
      warnings: warningsField(t),
      impacts: impactsField(t),
    }),
  });

addMutation('createRevision', createRevision, CreateRevisionPayload);
