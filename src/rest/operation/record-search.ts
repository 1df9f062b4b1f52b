/** The search of the reference API, which has it on a separate host. Its path is free here. */

import { z } from 'zod';
import { resultEntry } from '../../domain/operation/read/read-message.ts';
import { searchInput, searchRecords } from '../../domain/operation/record-search.ts';
import { endpoint } from '../endpoint/endpoint.ts';
import { integrationInPath } from '../endpoint/locations.ts';

export const searchEndpoint = endpoint({
  id: 'searchRecords',
  method: 'POST',
  path: '/projects/{projectIdOrName}/integrations/{integrationId}',
  tag: 'Reads',
  summary: "Finds records in a group's account at the provider, as they are now.",
  description:
    "The integration must read the object, and the config must not disable it. The answer is one page of the provider's, at most 1000 records; `Installation.records` of GraphQL reads on from it.",
  needs: searchRecords.needs,
  input: searchInput,
  locations: {
    ...integrationInPath,
    groupRef: { in: 'query', name: 'groupRef' },
    filters: { in: 'body', name: 'fieldFilters' },
  },
  status: 200,
  output: z
    .object({ result: z.array(resultEntry).describe('The records, as messages have them.') })
    .describe('The records that meet the conditions now.'),
  run: async ({ call }, input) => {
    const found = await searchRecords(call, input);
    return { result: found.map(({ id: _id, ...entry }) => entry) };
  },
});
