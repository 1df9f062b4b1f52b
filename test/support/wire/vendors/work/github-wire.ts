import { BadRequest, byLink, byPage } from '../../paging.ts';
import {
  BEARER,
  createLengthCheck,
  createPlainChange,
  readTime,
  roundToSecond,
  toIsoSeconds,
  type WireVendor,
} from '../../wire-format.ts';

/**
 * One list has the issues of all repositories. A single issue has a path below its repository, with its
 * number.
 */
export const github: WireVendor = {
  objectName: 'issues',
  textField: 'title',
  missingId: 'octo/app#999',
  requiredValues: { repository: 'octo/app' },
  fixture: {
    createId: (n) => n,
    createReference: (id) => `octo/app#${id}`,
    headers: { ...BEARER },
    invalidStatus: 422,
    toErrorBody: (status, message) => ({
      message: 'Validation Failed',
      errors: [{ resource: 'Issue', field: 'title', code: 'custom', message }],
      documentation_url: 'https://docs.github.com/rest',
      status: String(status),
    }),
    findValueError: createLengthCheck('title'),
    object: {
      toVendorRecord: ({ id, changedAt, values: { repository: _, ...values } }) => ({
        id: 9_000_000_000 + Number(id),
        number: id,
        url: `https://api.github.com/repos/octo/app/issues/${id}`,
        repository_url: 'https://api.github.com/repos/octo/app',
        ...values,
        updated_at: toIsoSeconds(changedAt),
      }),
      lists: [
        {
          path: '/issues',
          order: 'oldestChange',
          filter: (records, { query }) => {
            if (query.get('filter') !== 'all' || query.get('state') !== 'all') {
              throw new BadRequest('filter and state must be all');
            }
            const since = readTime(query, 'since');
            return records.filter((record) => !since || roundToSecond(record) >= since.getTime());
          },
          page: byLink(byPage({ name: 'per_page', fallback: 30, max: 100 }, 'page'), 'page'),
          toBody: (issues) => issues,
        },
      ],
      fetchOne: { path: '/repos/octo/app/issues/:id', toBody: (record) => record },
      create: createPlainChange('POST', '/repos/octo/app/issues', 201),
      update: createPlainChange('PATCH', '/repos/octo/app/issues/:id', 200),
    },
  },
};
