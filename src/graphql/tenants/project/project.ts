import { getOrgOfProject } from '../../../domain/tenants/org/org.ts';
import {
  createProject,
  findRequestedProject,
  listOrgProjects,
  listProjects,
  projectResource,
  updateProject,
} from '../../../domain/tenants/project/project.ts';
import { deleteProject } from '../../../domain/upkeep/delete-project.ts';
import { describeField } from '../../schema/fields.ts';
import { addList, addViewerList } from '../../schema/lists.ts';
import { addDeletions, addMutations } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';
import { Org, Project } from '../../schema/types.ts';

objectType(Project, projectResource, (t) => ({
  org: t.field({
    ...describeField(getOrgOfProject),
    type: Org,
    nullable: true,
    resolve: (project, _args, { call }) => getOrgOfProject(call, project),
  }),
}));

builder.queryFields((t) => ({
  project: t.field({
    ...describeField(findRequestedProject),
    type: Project,
    nullable: true,
    args: {
      idOrName: t.arg.string({
        description:
          'The id or the name of the project. Default: the only project of the caller. A caller with several projects must set it.',
      }),
    },
    resolve: (_root, { idOrName }, { call }) => findRequestedProject(call, idOrName),
  }),
}));

addList(Org, 'projects', Project, listOrgProjects);

addMutations('project', Project, { createProject, updateProject });
addDeletions({ deleteProject });

addViewerList('Query', 'projects', Project, listProjects);
