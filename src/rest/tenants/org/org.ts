import { z } from 'zod';
import type { Row } from '../../../domain/access/scope.ts';
import { computed, idField } from '../../../domain/base/resource.ts';
import {
  createOrg,
  deleteOrg,
  getRequestedOrg,
  listOrgs,
  orgResource,
  updateOrg,
} from '../../../domain/tenants/org/org.ts';
import { id } from '../../../kernel/ids.ts';
import {
  deleteEndpoint,
  listEndpoint,
  mutationEndpoint,
  readEndpoint,
} from '../../endpoint/resource-endpoints.ts';
import { extendResource } from '../../openapi/response-form.ts';

const tag = 'Organizations';

export const orgId = id.describe('The id of the org.');

export const org = extendResource(orgResource, {
  defaultTeamId: computed(
    idField.describe('The team of all members. An org has no other team, and this is its own id.'),
    ({ id }: Row<'Org'>) => id,
  ),
});

export const orgEndpoints = [
  listEndpoint({
    id: 'listOrgs',
    path: '/orgs',
    tag,
    input: z.object({}),
    list: listOrgs,
    resource: org,
  }),
  mutationEndpoint({
    id: 'createOrg',
    method: 'POST',
    path: '/orgs',
    tag,
    mutation: createOrg,
    status: 201,
    resource: org,
  }),
  readEndpoint({
    id: 'getOrg',
    path: '/orgs/{orgId}',
    tag,
    input: z.object({ orgId }),
    read: getRequestedOrg,
    resource: org,
  }),
  mutationEndpoint({
    id: 'updateOrg',
    method: 'PATCH',
    path: '/orgs/{orgId}',
    tag,
    mutation: updateOrg,
    mask: 'org',
    status: 200,
    resource: org,
  }),
  deleteEndpoint({
    id: 'deleteOrg',
    path: '/orgs/{orgId}',
    tag,
    mutation: deleteOrg,
  }),
];
