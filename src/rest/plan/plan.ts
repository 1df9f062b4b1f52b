import { z } from 'zod';
import { projectIdOrName } from '../../domain/base/names.ts';
import { applyPlan } from '../../domain/plan/apply-plan.ts';
import {
  exportProject,
  exportProjectInput,
  getPlan,
  planId,
  planProject,
  planResource,
} from '../../domain/plan/plan.ts';
import { mutationEndpoint, readEndpoint } from '../endpoint/resource-endpoints.ts';

const tag = 'Plans';
const path = '/projects/{projectIdOrName}/plans';

export const planEndpoints = [
  readEndpoint({
    id: 'exportProject',
    path: '/projects/{projectIdOrName}:export',
    tag,
    input: exportProjectInput,
    read: exportProject,
    mediaType: 'text/plain',
    resource: z.string().describe('The document.'),
    show: ({ document }) => document,
  }),
  mutationEndpoint({
    id: 'planProject',
    method: 'POST',
    path,
    tag,
    mutation: planProject,
    status: 201,
    resource: planResource,
  }),
  readEndpoint({
    id: 'getPlan',
    path: `${path}/{planId}`,
    tag,
    input: z.object({ projectIdOrName, planId }),
    read: getPlan,
    resource: planResource,
  }),
  mutationEndpoint({
    id: 'applyPlan',
    method: 'POST',
    path: `${path}/{planId}:apply`,
    tag,
    mutation: applyPlan,
    status: 200,
    resource: planResource,
  }),
];
