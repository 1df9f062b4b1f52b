import { z } from 'zod';
import { readWithin } from '../../../domain/access/declared-read.ts';
import {
  acceptInvite,
  createInvite,
  deleteInvite,
  deleteInviteInput,
  getInvite,
  inviteFilters,
  inviteResource,
  listInvites,
  listInvitesToViewer,
} from '../../../domain/tenants/org/invite.ts';
import { getRequestedOrg } from '../../../domain/tenants/org/org.ts';
import {
  deleteEndpoint,
  listEndpoint,
  mutationEndpoint,
  readEndpoint,
} from '../../endpoint/resource-endpoints.ts';
import { builderInfo } from './builder.ts';
import { orgId } from './org.ts';

const tag = 'Invites';
const path = '/orgs/{orgId}/invites';
export const inviteEndpoints = [
  listEndpoint({
    id: 'listInvites',
    path,
    tag,
    input: z.object({ orgId, ...inviteFilters.shape }),
    list: readWithin(getRequestedOrg, listInvites),
    resource: inviteResource,
  }),
  mutationEndpoint({
    id: 'createInvite',
    method: 'POST',
    path,
    tag,
    mutation: createInvite,
    status: 201,
    resource: inviteResource,
  }),
  readEndpoint({
    id: 'getInvite',
    path: `${path}/{inviteId}`,
    tag,
    input: deleteInviteInput,
    read: getInvite,
    resource: inviteResource,
  }),
  deleteEndpoint({
    id: 'deleteInvite',
    path: `${path}/{inviteId}`,
    tag,
    mutation: deleteInvite,
  }),
  listEndpoint({
    id: 'listMyInvites',
    path: '/invites',
    tag,
    input: z.object({}),
    list: listInvitesToViewer,
    resource: inviteResource,
  }),
  mutationEndpoint({
    id: 'acceptInvite',
    method: 'POST',
    path: '/invites:accept',
    tag,
    mutation: acceptInvite,
    status: 200,
    resource: builderInfo,
    show: ({ builder }) => builder,
  }),
];
