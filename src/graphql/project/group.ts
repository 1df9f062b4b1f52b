import { listGroups } from '../../domain/project/group.ts';
import { createdFields, listField, projectField, updateTimeField } from '../schema/fields.ts';
import { Node } from '../schema/node-field.ts';
import { builder } from '../schema/schema-builder.ts';
import { Group, Groups, Project } from '../schema/types.ts';

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
    list: listGroups,
  }),
);
