import { z } from 'zod';
import type { Call } from '../../domain/call.ts';
import {
  acceptInvite,
  acceptInviteInput,
  createInvite,
  createInviteInput,
  deleteInvite,
  deleteInviteInput,
  getInvite,
  inviteStatus,
  listInvites,
  listInvitesToViewer,
} from '../../domain/org/invite.ts';
import { getOwnOrg } from '../../domain/org/org.ts';
import { within } from '../../domain/declared-read.ts';
import type { Row } from '../../domain/scope.ts';
import { endpoint } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';
import { builderInfo, showBuilderInfo } from './builder.ts';
import { orgId, parentShape, showParent } from './org.ts';

const tag = 'Invites';
const path = '/orgs/{orgId}/invites';
const STATUSES = ['PENDING', 'ACCEPTED', 'REVOKED', 'EXPIRED'] as const;

const invite = resource('Invite', 'An invitation of an e-mail address to an org, for 7 days.', {
  id: createdShape.id,
  invitedEmail: z.string().describe('Whom it is for, lowercase.'),
  ...parentShape,
  status: words('InviteStatus', STATUSES).describe('What has become of it.'),
  createTime: createdShape.createTime,
  ...updateTimeShape,
});

function showInvite(row: Row<'Invite'>, { call }: { call: Call }) {
  const status = wordOf('InviteStatus', inviteStatus(call, row));
  return { ...row, ...showParent(row), status, updateTime: row.updateTime ?? undefined };
}

export const inviteEndpoints = [
  listEndpoint({
    id: 'listInvites',
    path,
    tag,
    summary: "Lists an org's invites, newest first; revoked and expired ones too.",
    input: z.object({
      orgId,
      status: z.enum(STATUSES).optional().describe('Only those of this status.'),
    }),
    item: invite,
    list: within(getOwnOrg, listInvites),
    show: showInvite,
  }),
  endpoint({
    id: 'createInvite',
    method: 'POST',
    path,
    tag,
    summary: 'Invites an e-mail address to an org.',
    needs: 'org:write',
    input: createInviteInput,
    status: 201,
    output: invite,
    run: async (request, input) => showInvite(await createInvite(request.call, input), request),
  }),
  endpoint({
    id: 'getInvite',
    method: 'GET',
    path: `${path}/{inviteId}`,
    tag,
    summary: 'Gives an invite to an org.',
    needs: 'org:read',
    input: deleteInviteInput,
    status: 200,
    output: invite,
    run: async (request, input) => showInvite(await getInvite(request.call, input), request),
  }),
  endpoint({
    id: 'deleteInvite',
    method: 'DELETE',
    path: `${path}/{inviteId}`,
    tag,
    summary: 'Revokes a pending invite. It stays listed.',
    needs: 'org:write',
    input: deleteInviteInput,
    status: 204,
    output: null,
    run: ({ call }, input) => deleteInvite(call, input),
  }),
  listEndpoint({
    id: 'listMyInvites',
    path: '/invites',
    tag,
    summary: "Lists pending invites to the caller's own address, of any org, newest first.",
    input: z.object({}),
    item: invite,
    list: listInvitesToViewer,
    show: showInvite,
  }),
  endpoint({
    id: 'acceptInvite',
    method: 'POST',
    path: '/invites:accept',
    tag,
    summary: "Joins the org of an invite to the caller's own address.",
    needs: 'bearer',
    input: acceptInviteInput,
    status: 200,
    output: builderInfo,
    async run({ call }, input) {
      const { builder } = await acceptInvite(call, input);
      return showBuilderInfo(builder, call.viewer);
    },
  }),
];
