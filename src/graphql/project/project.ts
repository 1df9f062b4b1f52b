import { getOrgOfProject } from '../../domain/org/org.ts';
import {
  createProject,
  listOrgProjects,
  listProjects,
  readProject,
  updateProject,
} from '../../domain/project/project.ts';
import { createdFields, listField, rootListField, updateTimeField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { needing } from '../schema/needing.ts';
import { Node } from '../schema/node-field.ts';
import { answer } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Org, Project, Projects } from '../schema/types.ts';

const BooleanEntitlement = builder.objectRef<{ value: boolean }>('BooleanEntitlement').implement({
  description: 'A feature that a plan has or has not.',
  fields: (t) => ({ value: t.exposeBoolean('value', { description: 'Whether the plan has it.' }) }),
});

const Entitlements = builder.objectRef<{ brandingRemoval: boolean }>('Entitlements').implement({
  description: 'Plan-based feature flags, managed by the service.',
  fields: (t) => ({
    brandingRemoval: t.field({
      type: BooleanEntitlement,
      description: "The connection flow may leave out the platform's name.",
      resolve: ({ brandingRemoval }) => ({ value: brandingRemoval }),
    }),
  }),
});

Project.implement({
  description: 'One application of a builder: the tenant that everything else belongs to.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    name: t.exposeString('name', { description: 'Unique in the whole service; lowercase.' }),
    appName: t.exposeString('appName', { description: 'What end users see while they connect.' }),
    orgId: t.exposeID('orgId', { description: 'The org that owns it.' }),
    org: t.field({
      ...needing(getOrgOfProject, 'The org that owns it.'),
      type: Org,
      nullable: true,
      resolve: (project, _args, { call }) => getOrgOfProject(call, project),
    }),
    entitlements: t.field({
      type: Entitlements,
      description: 'What the plan of the org allows.',
      resolve: (project) => project,
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.queryFields((t) => ({
  project: t.field({
    ...needing(
      readProject,
      'A project by id or name. Null where it does not exist for the caller.',
    ),
    type: Project,
    nullable: true,
    args: { idOrName: t.arg.string({ required: true, description: 'Its id or its name.' }) },
    resolve: (_root, { idOrName }, { call }) => readProject(call, idOrName),
  }),
  projects: rootListField(t, Projects, {
    description: "An API key's project, or all projects of a builder's orgs, newest first.",
    list: listProjects,
  }),
}));

builder.objectField(Org, 'projects', (t) =>
  listField(t, Projects, {
    description: 'Projects that the caller may see, newest first.',
    list: listOrgProjects,
  }),
);

builder.mutationFields((t) => ({
  createProject: mutationField(t, createProject, {
    type: answer('CreateProjectPayload', 'project', Project, 'The new project.'),
    description: 'Makes a project in an org of the caller.',
  }),
  updateProject: mutationField(t, updateProject, {
    type: answer('UpdateProjectPayload', 'project', Project, 'The project as it is now.'),
    description: 'Changes a project.',
  }),
}));
