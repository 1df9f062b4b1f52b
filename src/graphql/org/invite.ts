import {
  acceptInvite,
  createInvite,
  deleteInvite,
  inviteStatus,
  listInvites,
} from '../../domain/org/invite.ts';
import { createdFields, listField, updateTimeField } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { answer } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Builder, Invite, Invites, Org } from '../schema/types.ts';
import { parentFields } from './org.ts';

const InviteStatus = enumType('InviteStatus', 'What has become of an invite.', {
  PENDING: 'It can be accepted or revoked; for 7 days.',
  ACCEPTED: 'Whom it was for has joined.',
  REVOKED: 'It was taken back.',
  EXPIRED: 'Nobody accepted it in time.',
});

Invite.implement({
  description: 'An invitation of an e-mail address to an org, valid for 7 days.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    ...parentFields(t),
    invitedEmail: t.exposeString('invitedEmail', { description: 'Whom it is for, lowercase.' }),
    status: t.field({
      type: InviteStatus,
      description: 'What has become of it.',
      resolve: (invite, _args, { call }) => inviteStatus(call, invite),
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Org, 'invites', (t) =>
  listField(t, Invites, {
    description: 'Its invites, newest first; revoked and expired ones too.',
    args: { status: t.arg({ type: InviteStatus, description: 'Only those of this status.' }) },
    list: listInvites,
  }),
);

const DeleteInvitePayload = builder
  .objectRef<Awaited<ReturnType<typeof deleteInvite>>>('DeleteInvitePayload')
  .implement({
    description: 'The answer of deleteInvite. The invite stays listed, as revoked.',
    fields: (t) => ({
      deletedId: t.exposeID('deletedId', { description: 'The id of the invite.' }),
      invite: t.field({
        type: Invite,
        description: 'The invite as it is now.',
        resolve: ({ invite }) => invite,
      }),
    }),
  });

const AcceptInvitePayload = builder
  .objectRef<Awaited<ReturnType<typeof acceptInvite>>>('AcceptInvitePayload')
  .implement({
    description: 'The answer of acceptInvite.',
    fields: (t) => ({
      invite: t.field({
        type: Invite,
        description: 'The invite as it is now.',
        resolve: ({ invite }) => invite,
      }),
      builder: t.field({
        type: Builder,
        description: 'The builder who joined the org: the caller.',
        resolve: ({ builder }) => builder,
      }),
    }),
  });

builder.mutationFields((t) => ({
  createInvite: mutationField(t, createInvite, {
    type: answer('CreateInvitePayload', 'invite', Invite, 'The new invite.'),
    description: 'Invites an e-mail address to an org.',
  }),
  deleteInvite: mutationField(t, deleteInvite, {
    type: DeleteInvitePayload,
    description: 'Revokes a pending invite.',
  }),
  acceptInvite: mutationField(t, acceptInvite, {
    type: AcceptInvitePayload,
    description: "Joins the org of an invite to the caller's own address.",
  }),
}));
