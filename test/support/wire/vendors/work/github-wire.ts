import { BadRequest, byLink, byPage } from '../../paging.ts';
import {
  BEARER,
  isoSeconds,
  plainChange,
  shownTime,
  timeIn,
  tooLong,
  type WireVendor,
} from '../../terms.ts';

/** Issues of all repositories of the user; each is changed below its own repository, by its number. */
export const github: WireVendor = {
  objectName: 'issues',
  textField: 'title',
  missingId: 'octo/app#999',
  needs: { repository: 'octo/app' },
  fixture: {
    idOf: (n) => n,
    refOf: (id) => `octo/app#${id}`,
    headers: { ...BEARER },
    contentType: 'application/json',
    invalidStatus: 422,
    refusal: (status, message) => ({
      message: 'Validation Failed',
      errors: [{ resource: 'Issue', field: 'title', code: 'custom', message }],
      documentation_url: 'https://docs.github.com/rest',
      status: String(status),
    }),
    problemWith: tooLong('title'),
    object: {
      show: ({ id, changedAt, values: { repository: _, ...values } }) => ({
        id: 9_000_000_000 + Number(id),
        number: id,
        url: `https://api.github.com/repos/octo/app/issues/${id}`,
        repository_url: 'https://api.github.com/repos/octo/app',
        ...values,
        updated_at: isoSeconds(changedAt),
      }),
      lists: [
        {
          path: '/issues',
          order: 'oldestChange',
          filter: (records, { query }) => {
            if (query.get('filter') !== 'all' || query.get('state') !== 'all') {
              throw new BadRequest('Only issues of the user that are open');
            }
            const since = timeIn(query, 'since');
            return records.filter((record) => !since || shownTime(record) >= since.getTime());
          },
          page: byLink(byPage({ name: 'per_page', fallback: 30, max: 100 }, 'page'), 'page'),
          answer: (shown) => shown,
        },
      ],
      one: { path: '/repos/octo/app/issues/:id', answer: (record) => record },
      create: plainChange('POST', '/repos/octo/app/issues', 201),
      update: plainChange('PATCH', '/repos/octo/app/issues/:id', 200),
    },
  },
};
