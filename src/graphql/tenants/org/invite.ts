import {
  acceptInvite,
  createInvite,
  deleteInvite,
  inviteFilters,
  inviteResource,
  listInvites,
  loadInvitingOrgLabels,
} from '../../../domain/tenants/org/invite.ts';
import { addList } from '../../schema/lists.ts';
import { addMutation, addMutations } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';
import { Builder, Invite, Org } from '../../schema/types.ts';

objectType(Invite, inviteResource, (t) => ({
  orgLabel: t.string({
    nullable: true,
    description: 'The display name of the org. Null if the org was deleted in the meantime.',
    resolve: ({ orgId }, _args, { find }) => find(loadInvitingOrgLabels, orgId),
  }),
}));

addList(Org, 'invites', Invite, listInvites, { filters: inviteFilters });

const DeleteInvitePayload = builder
  .objectRef<Awaited<ReturnType<typeof deleteInvite>>>('DeleteInvitePayload')
  .implement({
    description: 'Result of `deleteInvite`. The invite stays in the list, as REVOKED.',
    fields: (t) => ({
      deletedId: t.exposeID('deletedId', { description: 'The id of the invite.' }),
      invite: t.expose('invite', {
        type: Invite,
        description: 'The invite with its new status.',
      }),
    }),
  });

const AcceptInvitePayload = builder
  .objectRef<Awaited<ReturnType<typeof acceptInvite>>>('AcceptInvitePayload')
  .implement({
    description: 'Result of `acceptInvite`: the invite, and the new member.',
    fields: (t) => ({
      invite: t.expose('invite', {
        type: Invite,
        description: 'The invite with its new status.',
      }),
      builder: t.expose('builder', {
        type: Builder,
        description: 'The caller, who is a member of the org now.',
      }),
    }),
  });

addMutations('invite', Invite, { createInvite });
addMutation('deleteInvite', deleteInvite, DeleteInvitePayload);
addMutation('acceptInvite', acceptInvite, AcceptInvitePayload);
