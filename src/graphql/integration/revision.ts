import { contentOf } from '../../domain/integration/integration-content.ts';
import { createRevision, listRevisions } from '../../domain/integration/revision.ts';
import { createdFields, listField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { builder } from '../schema/schema-builder.ts';
import { Integration, Revision, Revisions } from '../schema/types.ts';
import { IntegrationContent } from './integration-content.ts';

Revision.implement({
  description: "A version of an integration's content. Never changed.",
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    specVersion: t.exposeString('specVersion', {
      description: "The version of the content's form.",
    }),
    content: t.field({
      type: IntegrationContent,
      description: 'What the integration does.',
      resolve: contentOf,
    }),
  }),
});

builder.objectField(Integration, 'revisions', (t) =>
  listField(t, Revisions, {
    description: 'Its revisions, newest first.',
    list: listRevisions,
  }),
);

const CreateRevisionPayload = builder
  .objectRef<Awaited<ReturnType<typeof createRevision>>>('CreateRevisionPayload')
  .implement({
    description: 'The answer of createRevision.',
    fields: (t) => ({
      revision: t.field({
        type: Revision,
        description: 'The new revision.',
        resolve: ({ revision }) => revision,
      }),
      integration: t.field({
        type: Integration,
        description: 'The integration as it is now.',
        resolve: ({ integration }) => integration,
      }),
    }),
  });

builder.mutationFields((t) => ({
  createRevision: mutationField(t, createRevision, {
    type: CreateRevisionPayload,
    description:
      'Makes a new latest revision. Refused where installations read an object that it drops, unless destructive.',
  }),
}));
