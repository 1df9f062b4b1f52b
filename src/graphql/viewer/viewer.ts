import { listJoinableOrgs } from '../../domain/org/domain-proof.ts';
import { listInvitesToViewer } from '../../domain/org/invite.ts';
import { byId } from '../../domain/scope.ts';
import type { Viewer as ViewerRow } from '../../domain/viewer/viewer.ts';
import { rootListField } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { builder } from '../schema/schema-builder.ts';
import { Builder, Invites, Orgs, Project } from '../schema/types.ts';

const ViewerKind = enumType('ViewerKind', 'What a caller authenticates with.', {
  API_KEY: 'An API key of a project.',
  BUILDER: 'A builder with a bearer token.',
});

const Viewer = builder.objectRef<ViewerRow>('Viewer').implement({
  description:
    'The caller of this operation: an API key of a project, or a builder with a bearer token.',
  fields: (t) => ({
    kind: t.field({
      type: ViewerKind,
      description: 'Whether the caller is an API key or a builder.',
      resolve: ({ kind }) => kind,
    }),
    scopes: t.stringList({
      description: 'The scopes of the caller: what it may do.',
      resolve: ({ scopes }) => [...scopes],
    }),
    project: t.field({
      type: Project,
      nullable: true,
      description: 'The project of the API key; null for a builder.',
      resolve: (viewer, _args, { find }) =>
        viewer.kind === 'API_KEY' ? find(byId('Project'), viewer.projectId) : null,
    }),
    builder: t.field({
      type: Builder,
      nullable: true,
      description: 'The builder; null for an API key.',
      resolve: (viewer, _args, { find }) =>
        viewer.kind === 'BUILDER' ? find(byId('Builder'), viewer.id) : null,
    }),
    invites: rootListField(t, Invites, {
      description:
        'For a builder: pending invites to their e-mail address, from any org, newest first. Empty for an API key.',
      list: listInvitesToViewer,
    }),
    joinableOrgs: rootListField(t, Orgs, {
      description:
        'For a builder: orgs that have proven the domain of their e-mail address, and that they can join by `joinOrg`. Empty for an API key.',
      list: listJoinableOrgs,
    }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    description: 'The caller of this operation.',
    resolve: (_root, _args, { call }) => call.viewer,
  }),
);
