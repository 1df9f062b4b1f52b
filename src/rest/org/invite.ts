import { z } from 'zod';
import type { Call } from '../../domain/call.ts';
import { within } from '../../domain/declared-read.ts';
import {
  acceptInvite,
  createInvite,
  deleteInvite,
  deleteInviteInput,
  getInvite,
  inviteFilters,
  inviteStatus,
  listInvites,
  listInvitesToViewer,
} from '../../domain/org/invite.ts';
import { getOwnOrg } from '../../domain/org/org.ts';
import type { Row } from '../../domain/scope.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';
import { builderInfo, showBuilderInfo } from './builder.ts';
import { orgId, parentShape, showParent } from './org.ts';

const tag = 'Invites';
const path = '/orgs/{orgId}/invites';
const STATUSES = ['PENDING', 'ACCEPTED', 'REVOKED', 'EXPIRED'] as const;

const invite = resource(
  'Invite',
  'The invite: an invitation of an e-mail address to an org, valid for 7 days.',
  {
    id: createdShape.id,
    invitedEmail: z.string().describe('The invited e-mail address, in lower case.'),
    ...parentShape,
    status: words('InviteStatus', STATUSES).describe(
      'Whether it is pending, accepted, revoked or expired.',
    ),
    createTime: createdShape.createTime,
    ...updateTimeShape,
  },
);

function showInvite(row: Row<'Invite'>, { call }: { call: Call }) {
  const status = wordOf('InviteStatus', inviteStatus(call, row));
  return { ...row, ...showParent(row), status, updateTime: row.updateTime ?? undefined };
}

export const inviteEndpoints = [
  listEndpoint({
    id: 'listInvites',
    path,
    tag,
    summary: "Lists an org's invites, newest first, also revoked and expired ones.",
    input: z.object({ orgId, ...inviteFilters.shape }),
    item: invite,
    list: within(getOwnOrg, listInvites),
    show: showInvite,
  }),
  mutationEndpoint({
    id: 'createInvite',
    method: 'POST',
    path,
    tag,
    summary: 'Invites an e-mail address to an org. No e-mail is sent.',
    mutation: createInvite,
    status: 201,
    output: invite,
    show: showInvite,
  }),
  readEndpoint({
    id: 'getInvite',
    path: `${path}/{inviteId}`,
    tag,
    summary: 'Gets an invite to an org.',
    input: deleteInviteInput,
    read: getInvite,
    output: invite,
    show: showInvite,
  }),
  mutationEndpoint({
    id: 'deleteInvite',
    method: 'DELETE',
    path: `${path}/{inviteId}`,
    tag,
    summary: 'Revokes a pending invite. It stays in the list.',
    mutation: deleteInvite,
    status: 204,
    output: null,
    show: noBody,
  }),
  listEndpoint({
    id: 'listMyInvites',
    path: '/invites',
    tag,
    summary: "Lists pending invites to the caller's own e-mail address, of any org, newest first.",
    input: z.object({}),
    item: invite,
    list: listInvitesToViewer,
    show: showInvite,
  }),
  mutationEndpoint({
    id: 'acceptInvite',
    method: 'POST',
    path: '/invites:accept',
    tag,
    summary:
      "Accepts an invite to the caller's own e-mail address: the caller becomes a member of the org.",
    mutation: acceptInvite,
    status: 200,
    output: builderInfo,
    show: ({ builder }, { call }) => showBuilderInfo(builder, call),
  }),
];
