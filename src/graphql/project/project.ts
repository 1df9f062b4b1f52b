import { getOrgOfProject } from '../../domain/org/org.ts';
import {
  createProject,
  createProjectInput,
  listOrgProjects,
  listProjects,
  readProject,
  updateProject,
  updateProjectInput,
} from '../../domain/project/project.ts';
import { createdFields, listField, rootListField, updateTimeField } from '../schema/fields.ts';
import { inputArg } from '../schema/inputs.ts';
import { Node } from '../schema/node-field.ts';
import { payload } from '../schema/payloads.ts';
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
      type: Org,
      nullable: true,
      description: 'The org that owns it. Needs the scope org:read, or a builder of the org.',
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
    type: Project,
    nullable: true,
    description: 'A project by id or name. Null where it does not exist for the caller.',
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
  createProject: t.field({
    type: payload('CreateProjectPayload', 'project', Project, 'The new project.'),
    description: "Makes a project in an org of the caller. Needs a builder's bearer token.",
    args: inputArg(t.arg, createProjectInput),
    resolve: async (_root, { input }, { call }) => ({ project: await createProject(call, input) }),
  }),
  updateProject: t.field({
    type: payload('UpdateProjectPayload', 'project', Project, 'The project as it is now.'),
    description: 'Changes a project. Needs the scope full, or a builder of the org.',
    args: inputArg(t.arg, updateProjectInput),
    resolve: async (_root, { input }, { call }) => ({ project: await updateProject(call, input) }),
  }),
}));
