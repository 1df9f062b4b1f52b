import { BadRequest, byCursor } from '../../paging.ts';
import {
  BEARER,
  createLengthCheck,
  readMembers,
  readTime,
  type WireVendor,
} from '../../wire-format.ts';

const createList = (data: unknown[]) => ({ data, next_page: null });

/**
 * Tasks belong to a project, and projects to a workspace. A response contains only the fields that the
 * request names.
 */
export const asana: WireVendor = {
  objectName: 'tasks',
  textField: 'name',
  missingId: '1200000000000999',
  fixture: {
    createId: (n) => String(1_200_000_000_000_000 + n),
    headers: BEARER,
    toErrorBody: (_status, message) => ({ errors: [{ message, help: 'See the documentation' }] }),
    findValueError: createLengthCheck('name'),
    object: {
      toVendorRecord: ({ id, changedAt, values }) => ({
        gid: id,
        resource_type: 'task',
        ...values,
        modified_at: changedAt.toISOString(),
      }),
      fixedResponses: [
        { path: '/1.0/workspaces', body: createList([{ gid: '11', name: 'Work' }]) },
        { path: '/1.0/workspaces/11/projects', body: createList([{ gid: '21', name: 'Plan' }]) },
      ],
      lists: [
        {
          path: '/1.0/tasks',
          order: 'created',
          filter: (records, { query }) => {
            if (query.get('project') !== '21') throw new BadRequest('No such project');
            const requestedFields = query.get('opt_fields')?.split(',') ?? [];
            if (!requestedFields.includes('name'))
              throw new BadRequest('opt_fields must include name');
            const unknownField = requestedFields.find((name) => !/^[a-z_]+$/.test(name));
            if (unknownField) throw new BadRequest(`opt_fields has no ${unknownField}`);
            const since = readTime(query, 'modified_since');
            return records.filter(({ changedAt }) => !since || changedAt >= since);
          },
          page: byCursor({ name: 'limit', fallback: 20, max: 100 }, 'offset'),
          toBody: (data, { next }) => ({
            data,
            next_page: next === null ? null : { offset: next, path: '/tasks', uri: '…' },
          }),
        },
      ],
      fetchOne: { path: '/1.0/tasks/:id', toBody: (data) => ({ data }) },
      create: {
        method: 'POST',
        path: '/1.0/tasks',
        status: 201,
        readValues: readMembers('data'),
        toBody: (data) => ({ data }),
      },
      update: {
        method: 'PUT',
        path: '/1.0/tasks/:id',
        status: 200,
        readValues: readMembers('data'),
        toBody: (data) => ({ data }),
      },
      remove: { method: 'DELETE', path: '/1.0/tasks/:id', status: 200, body: { data: {} } },
    },
  },
};
