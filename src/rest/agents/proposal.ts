import { z } from 'zod';
import { readInProject } from '../../domain/access/declared-read.ts';
import { commitProposal } from '../../domain/agents/commit-proposal.ts';
import { createProposal } from '../../domain/agents/create-proposal.ts';
import { approveProposal, rejectProposal } from '../../domain/agents/decide-proposal.ts';
import {
  getProposal,
  listProposals,
  proposalFilters,
  proposalInput,
  proposalResource,
} from '../../domain/agents/proposal.ts';
import { projectIdOrName } from '../../domain/base/names.ts';
import { resource } from '../../domain/base/resource.ts';
import { recordResult } from '../data/operation/write-records.ts';
import { mutationEndpoint, pagedEndpoint, readEndpoint } from '../endpoint/resource-endpoints.ts';
import { extendResource } from '../openapi/response-form.ts';

const tag = 'Agents';
const path = '/projects/{projectIdOrName}/proposals';
const itemPath = `${path}/{proposalId}`;

const proposal = extendResource(proposalResource, {
  groupId: z.string().describe('The id of the group whose record is written.'),
  consumerId: z.string().nullable().describe('The id of the end user that the agent works for.'),
  installationId: z.string().describe('The id of the installation that serves the write.'),
  agentSessionId: z.string().nullable().describe('The id of the session of the agent.'),
  operationId: z
    .string()
    .nullable()
    .describe('The id of the operation that writes the record. Omitted before the commit.'),
});

const committedProposal = resource('CommittedProposal', 'A committed proposal, with its outcome.', {
  proposal: proposal.describe('The proposal after the call.'),
  result: recordResult
    .nullable()
    .describe('The outcome of the write. Omitted if it is not known yet.'),
});

export const proposalEndpoints = [
  mutationEndpoint({
    id: 'createProposal',
    method: 'POST',
    path,
    tag,
    mutation: createProposal,
    status: 201,
    resource: proposal,
  }),
  pagedEndpoint({
    id: 'listProposals',
    path,
    tag,
    input: z.object({ projectIdOrName, ...proposalFilters.shape }),
    list: readInProject(listProposals),
    resource: proposal,
  }),
  readEndpoint({
    id: 'getProposal',
    path: itemPath,
    tag,
    input: proposalInput,
    read: getProposal,
    resource: proposal,
  }),
  mutationEndpoint({
    id: 'approveProposal',
    method: 'POST',
    path: `${itemPath}:approve`,
    tag,
    mutation: approveProposal,
    status: 200,
    resource: proposal,
  }),
  mutationEndpoint({
    id: 'rejectProposal',
    method: 'POST',
    path: `${itemPath}:reject`,
    tag,
    mutation: rejectProposal,
    status: 200,
    resource: proposal,
  }),
  mutationEndpoint({
    id: 'commitProposal',
    method: 'POST',
    path: `${itemPath}:commit`,
    tag,
    mutation: commitProposal,
    status: 200,
    resource: committedProposal,
  }),
];
