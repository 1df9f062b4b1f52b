import { listGroups } from '../../domain/project/group.ts';
import { builder } from '../builder.ts';
import { createdFields, listField, projectField, updateTimeField } from '../fields.ts';
import { Node } from '../node.ts';
import { Group, Groups, Project } from '../types.ts';

Group.implement({
  description: "A set of the builder's users who share access: a customer, a team.",
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    groupRef: t.exposeString('groupRef', { description: "The builder's own name of it." }),
    groupName: t.exposeString('groupName', { description: 'What people call it.' }),
    project: projectField(t),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Project, 'groups', (t) =>
  listField(t, Groups, {
    description: 'Groups, newest first. They are made by their first connection.',
    resolve: (project, args, { call }) => listGroups(call, project, args),
  }),
);
