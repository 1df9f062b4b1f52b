import type { Impact } from '../../domain/installation/check/revision-impacts.ts';
import { contentOf } from '../../domain/integration/integration-content.ts';
import { createRevision, listRevisions } from '../../domain/integration/revision.ts';
import { ImpactType } from '../plan/impact.ts';
import { createdFields, listField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { builder, type Types } from '../schema/schema-builder.ts';
import { Integration, Revision, Revisions } from '../schema/types.ts';
import { IntegrationContent } from './integration-content.ts';

Revision.implement({
  description: "A version of an integration's content. A revision never changes.",
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    specVersion: t.exposeString('specVersion', {
      description: 'The version of the format of the content: 1.0.0.',
    }),
    content: t.field({
      type: IntegrationContent,
      description: 'What the integration reads, writes, proxies and subscribes to.',
      resolve: contentOf,
    }),
  }),
});

builder.objectField(Integration, 'revisions', (t) =>
  listField(t, Revisions, {
    list: listRevisions,
  }),
);

export const WARNINGS =
  'What was accepted and left out, each with its path and the reason: of fields that are named twice, the last one is in force.';

/** The installations that new revisions break. */
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
    description: 'Result of `createRevision`.',
    fields: (t) => ({
      revision: t.field({
        type: Revision,
        description: 'The revision, which holds now.',
        resolve: ({ revision }) => revision,
      }),
      integration: t.field({
        type: Integration,
        description: 'The integration, with the revision as its latest.',
        resolve: ({ integration }) => integration,
      }),
      warnings: t.exposeStringList('warnings', { description: WARNINGS }),
      impacts: impactsField(t),
    }),
  });

builder.mutationFields((t) => ({
  createRevision: mutationField(t, createRevision, CreateRevisionPayload),
}));
