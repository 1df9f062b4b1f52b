import { listJoinableOrgs } from '../../domain/org/domain-proof.ts';
import { listInvitesToViewer } from '../../domain/org/invite.ts';
import { byId } from '../../domain/scope.ts';
import { nameOfScope, scopeName } from '../../domain/viewer/scopes.ts';
import { projectIdOf, type Viewer as ViewerRow } from '../../domain/viewer/viewer.ts';
import { SessionPermission } from '../project/session-token.ts';
import { rootListField } from '../schema/fields.ts';
import { enumOf, enumType } from '../schema/inputs.ts';
import { builder } from '../schema/schema-builder.ts';
import { Builder, Consumer, Group, Invites, Orgs, Project } from '../schema/types.ts';

const ViewerKind = enumType('ViewerKind', 'What a caller authenticates with.', {
  API_KEY: 'An API key of a project.',
  BUILDER: 'A builder with a bearer token.',
  END_USER: 'An end user of a project: a group and a consumer.',
});

const Viewer = builder.objectRef<ViewerRow>('Viewer').implement({
  description:
    'The caller of this operation: an API key of a project, a builder with a bearer token, or an end user with a token of their own.',
  fields: (t) => ({
    kind: t.field({
      type: ViewerKind,
      description: 'Whether the caller is an API key, a builder or an end user.',
      resolve: ({ kind }) => kind,
    }),
    scopes: t.field({
      type: [enumOf(scopeName)],
      description: 'What an API key or a builder may do. Empty for an end user.',
      resolve: (viewer) => (viewer.kind === 'END_USER' ? [] : viewer.scopes.map(nameOfScope)),
    }),
    permissions: t.field({
      type: [SessionPermission],
      description: "What an end user's token permits besides reading. Empty for other callers.",
      resolve: (viewer) => (viewer.kind === 'END_USER' ? [...viewer.permissions] : []),
    }),
    project: t.field({
      type: Project,
      nullable: true,
      description: 'The project of the API key or of the end user; null for a builder.',
      resolve: (viewer, _args, { find }) => {
        const id = projectIdOf(viewer);
        return id === null ? null : find(byId('Project'), id);
      },
    }),
    builder: t.field({
      type: Builder,
      nullable: true,
      description: 'The builder; null for other callers.',
      resolve: (viewer, _args, { find }) =>
        viewer.kind === 'BUILDER' ? find(byId('Builder'), viewer.id) : null,
    }),
    invites: rootListField(t, Invites, {
      list: listInvitesToViewer,
    }),
    joinableOrgs: rootListField(t, Orgs, {
      list: listJoinableOrgs,
    }),
  }),
});

/** Null for every caller who is not an end user. */
builder.objectFields(Viewer, (t) => ({
  group: t.field({
    type: Group,
    nullable: true,
    description: 'The group of the end user; null for other callers.',
    resolve: (viewer, _args, { find }) =>
      viewer.kind === 'END_USER' ? find(byId('Group'), viewer.groupId) : null,
  }),
  consumer: t.field({
    type: Consumer,
    nullable: true,
    description: 'The end user as a consumer of the project; null for other callers.',
    resolve: (viewer, _args, { find }) =>
      viewer.kind === 'END_USER' ? find(byId('Consumer'), viewer.consumerId) : null,
  }),
  expireTime: t.field({
    type: 'DateTime',
    nullable: true,
    description:
      "When the end user's token ends: requests are refused and streams end. Null for other callers.",
    resolve: (viewer) => (viewer.kind === 'END_USER' ? viewer.expireTime : null),
  }),
}));

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    description: 'The caller of this operation.',
    resolve: (_root, _args, { call }) => call.viewer,
  }),
);
