import { z } from 'zod';
import { readWithin } from '../../../domain/access/declared-read.ts';
import { projectIdOrName } from '../../../domain/base/names.ts';
import {
  type Contract,
  contractResource,
} from '../../../domain/data/contract/contract-resource.ts';
import { formatGraphqlSdl } from '../../../domain/data/contract/formats/graphql-sdl.ts';
import { createJsonSchema } from '../../../domain/data/contract/formats/json-schema.ts';
import { formatTypescript } from '../../../domain/data/contract/formats/typescript.ts';
import { getProjectContract } from '../../../domain/data/contract/read-contract.ts';
import { getRequestedProject } from '../../../domain/tenants/project/project.ts';
import { readEndpoint } from '../../endpoint/resource-endpoints.ts';

const tag = 'Contracts';
const path = '/projects/{projectIdOrName}/contract';

/** Every format of the contract has the same input and the same version. */
const CONTRACT_READ = {
  tag,
  input: z.object({ projectIdOrName }),
  read: readWithin(getRequestedProject, getProjectContract),
  etag: ({ hash }: Contract) => hash,
  description:
    'Merges the latest revisions of all integrations by object name. Sends no request to a provider. The `ETag` is the hash of the contract. A request with `If-None-Match` gets 304 if the contract has not changed.',
};

export const contractEndpoints = [
  readEndpoint({
    ...CONTRACT_READ,
    id: 'getContract',
    path,
    summary: 'Gets the contract of a project.',
    resource: contractResource,
  }),
  readEndpoint({
    ...CONTRACT_READ,
    id: 'getContractSchema',
    path: `${path}.schema.json`,
    summary: 'Gets the contract of a project as JSON Schema.',
    resource: z
      .record(z.string(), z.unknown())
      .describe('A JSON Schema with a definition for the records and the inputs of each object.'),
    show: createJsonSchema,
  }),
  readEndpoint({
    ...CONTRACT_READ,
    id: 'getContractGraphql',
    path: `${path}.graphql`,
    summary: 'Gets the contract of a project as GraphQL types.',
    mediaType: 'text/plain',
    resource: z
      .string()
      .describe('Types for the records, and inputs for the writes of each object.'),
    show: formatGraphqlSdl,
  }),
  readEndpoint({
    ...CONTRACT_READ,
    id: 'getContractTypes',
    path: `${path}.d.ts`,
    summary: 'Gets the contract of a project as TypeScript declarations.',
    mediaType: 'text/plain',
    resource: z.string().describe('Interfaces for the records and the inputs of each object.'),
    show: formatTypescript,
  }),
];
