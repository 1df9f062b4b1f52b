import {
  acceptInvite,
  createInvite,
  deleteInvite,
  inviteFilters,
  inviteStatus,
  listInvites,
} from '../../domain/org/invite.ts';
import { createdFields, listField, updateTimeField } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Builder, Invite, Invites, Org } from '../schema/types.ts';
import { parentFields } from './org.ts';

const InviteStatus = enumType('InviteStatus', 'Whether an invite is still open, and if not, why.', {
  PENDING: 'It can be accepted or revoked, for 7 days after it was created.',
  ACCEPTED: 'The person has accepted it and is a member of the org.',
  REVOKED: 'A member of the org has revoked it.',
  EXPIRED: 'Nobody accepted it within 7 days.',
});

Invite.implement({
  description:
    'An invitation of an e-mail address to an org, valid for 7 days. The person accepts it with acceptInvite.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    ...parentFields(t),
    invitedEmail: t.exposeString('invitedEmail', {
      description: 'The invited e-mail address, in lower case.',
    }),
    status: t.field({
      type: InviteStatus,
      description: 'Whether it is pending, accepted, revoked or expired.',
      resolve: (invite, _args, { call }) => inviteStatus(call, invite),
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Org, 'invites', (t) =>
  listField(t, Invites, {
    description: 'The invites to the org, newest first, also revoked and expired ones.',
    args: parsedArgs(t.arg, inviteFilters),
    list: listInvites,
  }),
);

const DeleteInvitePayload = builder
  .objectRef<Awaited<ReturnType<typeof deleteInvite>>>('DeleteInvitePayload')
  .implement({
    description: 'The answer of deleteInvite. The invite stays in the list, as REVOKED.',
    fields: (t) => ({
      deletedId: t.exposeID('deletedId', { description: 'The id of the invite.' }),
      invite: t.field({
        type: Invite,
        description: 'The invite with its new status.',
        resolve: ({ invite }) => invite,
      }),
    }),
  });

const AcceptInvitePayload = builder
  .objectRef<Awaited<ReturnType<typeof acceptInvite>>>('AcceptInvitePayload')
  .implement({
    description: 'The answer of acceptInvite: the invite, and the new member.',
    fields: (t) => ({
      invite: t.field({
        type: Invite,
        description: 'The invite with its new status.',
        resolve: ({ invite }) => invite,
      }),
      builder: t.field({
        type: Builder,
        description: 'The caller, who is a member of the org now.',
        resolve: ({ builder }) => builder,
      }),
    }),
  });

builder.mutationFields((t) => ({
  createInvite: mutationField(t, createInvite, {
    type: payload(
      'CreateInvitePayload',
      'invite',
      Invite,
      'The invite. The person sees it in viewer.invites; no e-mail is sent.',
    ),
    description: 'Invites an e-mail address to an org. No e-mail is sent.',
  }),
  deleteInvite: mutationField(t, deleteInvite, {
    type: DeleteInvitePayload,
    description: 'Revokes a pending invite, so that it can no longer be accepted.',
  }),
  acceptInvite: mutationField(t, acceptInvite, {
    type: AcceptInvitePayload,
    description:
      "Accepts an invite to the caller's own e-mail address: the caller becomes a member of the org.",
  }),
}));
