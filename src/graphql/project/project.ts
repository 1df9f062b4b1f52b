import { deleteProject } from '../../domain/erasure/delete-project.ts';
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
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Org, Project, Projects } from '../schema/types.ts';

const BooleanEntitlement = builder.objectRef<{ value: boolean }>('BooleanEntitlement').implement({
  description: 'A feature that a plan has or does not have.',
  fields: (t) => ({
    value: t.exposeBoolean('value', { description: 'Whether the plan has the feature.' }),
  }),
});

const Entitlements = builder.objectRef<{ brandingRemoval: boolean }>('Entitlements').implement({
  description: 'The features that the plan of an org has. The service sets them.',
  fields: (t) => ({
    brandingRemoval: t.field({
      type: BooleanEntitlement,
      description:
        "Whether the pages that end users connect with may leave out the platform's name.",
      resolve: ({ brandingRemoval }) => ({ value: brandingRemoval }),
    }),
  }),
});

Project.implement({
  description: 'One application of a builder: the tenant that everything else belongs to.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    name: t.exposeString('name', { description: 'Unique in the whole service, in lower case.' }),
    appName: t.exposeString('appName', {
      description: 'The name of the app that end users see while they connect.',
    }),
    orgId: t.exposeID('orgId', { description: 'The id of the org that owns it.' }),
    org: t.field({
      ...needing(getOrgOfProject, 'The org that owns the project.'),
      type: Org,
      nullable: true,
      resolve: (project, _args, { call }) => getOrgOfProject(call, project),
    }),
    entitlements: t.field({
      type: Entitlements,
      description: 'The features that the plan of the org has.',
      resolve: (project) => project,
    }),
    allowedOrigins: t.exposeStringList('allowedOrigins', {
      description: 'Origins whose pages may call the gateway with tokens of its end users.',
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.queryFields((t) => ({
  project: t.field({
    ...needing(
      readProject,
      'A project by its id or name; null if it does not exist or the caller may not see it. Without an argument, the only project of the caller.',
    ),
    type: Project,
    nullable: true,
    args: {
      idOrName: t.arg.string({
        description:
          'The id or the name of the project. Default: the only project of the caller. A caller with several projects must give it.',
      }),
    },
    resolve: (_root, { idOrName }, { call }) => readProject(call, idOrName),
  }),
  projects: rootListField(t, Projects, {
    description: "An API key's project, or all projects of a builder's orgs, newest first.",
    list: listProjects,
  }),
}));

builder.objectField(Org, 'projects', (t) =>
  listField(t, Projects, {
    description: 'The projects of the org that the caller may see, newest first.',
    list: listOrgProjects,
  }),
);

builder.mutationFields((t) => ({
  createProject: mutationField(t, createProject, {
    type: payload(
      'CreateProjectPayload',
      'project',
      Project,
      'The project. Give its id or name as projectIdOrName.',
    ),
    description: 'Creates a project in an org of the caller.',
  }),
  updateProject: mutationField(t, updateProject, {
    type: payload('UpdateProjectPayload', 'project', Project, 'The project with its new values.'),
    description:
      'Changes the name, the app name or the allowed origins of a project. What is left out stays.',
  }),
  deleteProject: mutationField(t, deleteProject, {
    type: DeletePayload,
    description:
      'Deletes a project with all that is in it. Its keys are refused within a second, and nothing is sent any more; tokens are revoked at providers that take that. It disappears at once, and its rows are deleted soon after. Its name can be used again.',
  }),
}));
