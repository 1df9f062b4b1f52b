/** Projects: one application of a builder each, the tenant that everything else belongs to. */

import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import { notFound } from '../../errors.ts';
import { id, newId } from '../../ids.ts';
import type { Call } from '../call.ts';
import { builderMutation, projectMutation } from '../declared-mutation.ts';
import { projectRead, read } from '../declared-read.ts';
import { label, projectIdOrName, projectName } from '../names.ts';
import type { PageArgs } from '../paging/page.ts';
import { listPage } from '../paging/page-of-rows.ts';
import { findProject, getProjectOf, orgIdsOf, ownOrgId } from '../scope.ts';
import { uniquely } from '../unique.ts';
import { orEndUser } from '../viewer/needs.ts';
import { projectIdOf } from '../viewer/viewer.ts';
import { allowedOrigins } from './origins.ts';

type Project = Row<'Project'>;

const name = projectName.describe(
  '2 to 128 letters, digits and hyphens, unique in the whole service; stored in lower case.',
);
const appName = label.describe(
  'The name of the app that end users see while they connect, 1 to 128 characters.',
);

export const createProjectInput = z
  .object({ name, appName, orgId: id.describe('The id of the org that owns it.') })
  .meta({ id: 'CreateProjectInput', description: 'The project to create.' });

export const updateProjectInput = z
  .object({
    projectIdOrName,
    name: name.optional(),
    appName: appName.optional(),
    allowedOrigins: allowedOrigins.optional(),
  })
  .meta({
    id: 'UpdateProjectInput',
    description: 'The new values of a project. A field that is left out stays as it is.',
  });

/** Returns the viewer's project of that id or name, or null; without one, the viewer's only project. */
export const readProject = read(
  orEndUser('read'),
  async (call: Call, idOrName: string | null | undefined): Promise<Project | null> => {
    return idOrName == null ? getProjectOf(call, {}, 'idOrName') : findProject(call, idOrName);
  },
);

/** The viewer's project of that id or name. Throws NOT_FOUND. */
export const getOwnProject = projectRead(
  orEndUser('read'),
  (_call, _input: unknown, project) => project,
);

/** Lists the projects that the viewer may see: the project of an API key or end user, or all of a builder's orgs. */
export const listProjects = read(orEndUser('read'), (call: Call, args: PageArgs) => {
  const { viewer } = call;
  const own = projectIdOf(viewer);
  const where = own === null ? { orgId: orgIdsOf(viewer) } : { id: own };
  return listPage(call, { name: 'Query.projects', table: 'Project', where }, args);
});

/** Lists the projects of an org that the viewer may see. */
export const listOrgProjects = read('org:read', (call: Call, org: Row<'Org'>, args: PageArgs) => {
  const { viewer } = call;
  const id = projectIdOf(viewer);
  const own = id === null ? {} : { id };
  return listPage(
    call,
    {
      name: 'Org.projects',
      parentId: org.id,
      table: 'Project',
      where: { orgId: ownOrgId(viewer, org), ...own },
    },
    args,
  );
});

export const createProject = builderMutation({
  input: createProjectInput,
  run({ database }, { orgId, name, appName }, { orgIds }): Promise<Project> {
    if (!orgIds.includes(orgId)) throw notFound('Org', orgId);
    const projectId = newId('prj');
    const data = { id: projectId, orgId, name, appName, eventLog: { create: {} } };
    return uniquely(database.prisma.project.create({ data }), nameTaken(name));
  },
});

export const updateProject = projectMutation({
  needs: 'full',
  input: updateProjectInput,
  async run(call, { projectIdOrName: _project, ...changes }, project): Promise<Project> {
    if (Object.values(changes).every((value) => value === undefined)) return project;
    const data = { ...changes, updateTime: call.now() };
    const where = { id: project.id };
    return uniquely(
      call.database.prisma.project.update({ where, data }),
      nameTaken(changes.name ?? ''),
    );
  },
});

function nameTaken(name: string): string {
  return `The project name ${name} is taken.`;
}
