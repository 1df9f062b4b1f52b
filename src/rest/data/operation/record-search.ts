/**
 * Searches records. The reference API serves searches on a separate host. The gateway needs none, because no other endpoint
 * has this path and method.
 */
import { z } from 'zod';
import { resultEntry } from '../../../domain/data/operation/read/read-message.ts';
import { searchInput, searchRecords } from '../../../domain/data/operation/record-search.ts';
import { describeEndpoint, endpoint } from '../../endpoint/endpoint.ts';
import { integrationInPath } from '../../endpoint/request-form.ts';

export const searchEndpoint = endpoint({
  id: 'searchRecords',
  method: 'POST',
  path: '/projects/{projectIdOrName}/integrations/{integrationId}',
  tag: 'Reads',
  ...describeEndpoint(searchRecords, {
    description: 'For further pages, use `Installation.records` in GraphQL.',
  }),
  needs: searchRecords.needs,
  input: searchInput,
  locations: {
    ...integrationInPath,
    groupRef: { in: 'query', name: 'groupRef' },
    filters: { in: 'body', name: 'fieldFilters' },
  },
  status: 200,
  resource: z
    .object({ result: z.array(resultEntry).describe('The records, in the format of messages.') })
    .describe('The records that meet the conditions now.'),
  run: async ({ call }, input) => {
    const records = await searchRecords(call, input);
    return { result: records.map(({ id: _id, ...entry }) => entry) };
  },
});
