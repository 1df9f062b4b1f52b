import { byId } from '../../../domain/access/scope.ts';
import {
  addMember,
  listMembers,
  memberResource,
  removeMember,
  updateMember,
} from '../../../domain/tenants/org/member.ts';
import { addList } from '../../schema/lists.ts';
import { addDeletions, addMutations } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { Builder, Member, Org } from '../../schema/types.ts';

objectType(Member, memberResource, (t) => ({
  builder: t.field({
    type: Builder,
    description: 'The builder who is the member.',
    resolve: ({ builderId }, _args, { get }) => get(byId('Builder'), builderId),
  }),
}));

addList(Org, 'members', Member, listMembers);

addMutations('member', Member, { updateMember });
addMutations('org', Org, { addMember });
addDeletions({ removeMember });
