import { listGroupConnections } from '../../domain/connection/list/connection-list.ts';
import { eraseGroup } from '../../domain/erasure/erase-subject.ts';
import { listGroupInstallations } from '../../domain/installation/installation-list.ts';
import { searchFilters } from '../../domain/paging/search.ts';
import { listGroups } from '../../domain/project/group.ts';
import { createdFields, listField, projectField, updateTimeField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { DeletePayload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { ConnectedAccounts, Group, Groups, Installations, Project } from '../schema/types.ts';

Group.implement({
  description: "A set of the builder's users who share connections: a customer or a team.",
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    groupRef: t.exposeString('groupRef', {
      description: "The builder's own id of the group, unique in the project.",
    }),
    groupName: t.exposeString('groupName', {
      description: 'The name that people see. Default: the ref.',
    }),
    project: projectField(t),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Project, 'groups', (t) =>
  listField(t, Groups, {
    description:
      'The groups of the project, newest first. A group is created by its first connection.',
    args: parsedArgs(t.arg, searchFilters),
    list: listGroups,
  }),
);

builder.objectFields(Group, (t) => ({
  connections: listField(t, ConnectedAccounts, {
    description: 'The connections of the group, newest first.',
    list: listGroupConnections,
  }),
  installations: listField(t, Installations, {
    description: 'The installations of the group, newest first.',
    list: listGroupInstallations,
  }),
}));

builder.mutationField('eraseGroup', (t) =>
  mutationField(t, eraseGroup, {
    type: DeletePayload,
    description:
      'Erases a group with all that names it: its connections, installations, operations with their logs, events and deliveries. Tokens are revoked at providers that take that. It disappears at once, and its rows are deleted soon after. The ref can be used again.',
  }),
);
