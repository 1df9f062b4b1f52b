import { byId } from '../../../domain/access/scope.ts';
import {
  findProjectId,
  type Viewer as ViewerRow,
  viewerResource,
} from '../../../domain/access/viewer/viewer.ts';
import { listJoinableOrgs } from '../../../domain/tenants/org/domain-proof.ts';
import { listInvitesToViewer } from '../../../domain/tenants/org/invite.ts';
import { addViewerList } from '../../schema/lists.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';
import { Builder, Consumer, Group, Invite, Org, Project } from '../../schema/types.ts';

const Viewer = objectType(builder.objectRef<ViewerRow>('Viewer'), viewerResource, (t) => ({
  project: t.field({
    type: Project,
    nullable: true,
    description: 'The project of the API key or of the end user; null for a builder.',
    resolve: (viewer, _args, { find }) => {
      const id = findProjectId(viewer);
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
}));

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    description: 'The caller of this operation.',
    resolve: (_root, _args, { call }) => call.viewer,
  }),
);

addViewerList(Viewer, 'invites', Invite, listInvitesToViewer);
addViewerList(Viewer, 'joinableOrgs', Org, listJoinableOrgs);
