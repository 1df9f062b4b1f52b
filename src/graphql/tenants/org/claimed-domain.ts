import {
  claimDomain,
  claimedDomainResource,
  domainKey,
  findClaimedDomain,
  listClaimedDomains,
} from '../../../domain/tenants/org/claimed-domain.ts';
import {
  joinOrg,
  releaseClaimedDomain,
  verifyClaimedDomain,
} from '../../../domain/tenants/org/domain-proof.ts';
import { describeField } from '../../schema/fields.ts';
import { createArgs } from '../../schema/inputs.ts';
import { addList } from '../../schema/lists.ts';
import { addDeletions, addMutations } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';
import { ClaimedDomain, Org } from '../../schema/types.ts';

objectType(ClaimedDomain, claimedDomainResource);

builder.queryField('claimedDomain', (t) =>
  t.field({
    ...describeField(findClaimedDomain),
    type: ClaimedDomain,
    nullable: true,
    args: createArgs(t.arg, domainKey),
    resolve: (_root, key, { call }) => findClaimedDomain(call, key),
  }),
);

addList(Org, 'claimedDomains', ClaimedDomain, listClaimedDomains);

addMutations('claimedDomain', ClaimedDomain, { verifyClaimedDomain, claimDomain });
addMutations('org', Org, { joinOrg });
addDeletions({ releaseClaimedDomain });
