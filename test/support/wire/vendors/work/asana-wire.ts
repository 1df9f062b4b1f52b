import { BadRequest, byCursor } from '../../paging.ts';
import { BEARER, membersOf, timeIn, tooLong, type WireVendor } from '../../terms.ts';

const list = (data: unknown[]) => ({ data, next_page: null });

/** Tasks are listed below a project, projects below a workspace; fields come only if they are named. */
export const asana: WireVendor = {
  objectName: 'tasks',
  textField: 'name',
  missingId: '1200000000000999',
  fixture: {
    idOf: (n) => String(1_200_000_000_000_000 + n),
    headers: BEARER,
    contentType: 'application/json',
    invalidStatus: 400,
    refusal: (_status, message) => ({ errors: [{ message, help: 'See the documentation' }] }),
    problemWith: tooLong('name'),
    object: {
      show: ({ id, changedAt, values }) => ({
        gid: id,
        resource_type: 'task',
        ...values,
        modified_at: changedAt.toISOString(),
      }),
      fixed: [
        { path: '/1.0/workspaces', body: list([{ gid: '11', name: 'Work' }]) },
        { path: '/1.0/workspaces/11/projects', body: list([{ gid: '21', name: 'Plan' }]) },
      ],
      lists: [
        {
          path: '/1.0/tasks',
          order: 'made',
          filter: (records, { query }) => {
            if (query.get('project') !== '21') throw new BadRequest('No such project');
            const asked = query.get('opt_fields')?.split(',') ?? [];
            if (!asked.includes('name')) throw new BadRequest('name would be left out');
            const since = timeIn(query, 'modified_since');
            return records.filter(({ changedAt }) => !since || changedAt >= since);
          },
          page: byCursor({ name: 'limit', fallback: 20, max: 100 }, 'offset'),
          answer: (data, { next }) => ({
            data,
            next_page: next === null ? null : { offset: next, path: '/tasks', uri: '…' },
          }),
        },
      ],
      one: { path: '/1.0/tasks/:id', answer: (data) => ({ data }) },
      create: {
        method: 'POST',
        path: '/1.0/tasks',
        status: 201,
        valuesIn: membersOf('data'),
        answer: (data) => ({ data }),
      },
      update: {
        method: 'PUT',
        path: '/1.0/tasks/:id',
        status: 200,
        valuesIn: membersOf('data'),
        answer: (data) => ({ data }),
      },
      remove: { method: 'DELETE', path: '/1.0/tasks/:id', status: 200, body: { data: {} } },
    },
  },
};
