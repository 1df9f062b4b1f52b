import {
  claimDomain,
  claimedDomainResource,
  domainKey,
  findClaimedDomain,
  listClaimedDomains,
} from '../../domain/org/claimed-domain.ts';
import {
  joinOrg,
  releaseClaimedDomain,
  verifyClaimedDomain,
} from '../../domain/org/domain-proof.ts';
import { listField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { needing } from '../schema/needing.ts';
import { objectType } from '../schema/object-type.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { ClaimedDomain, ClaimedDomains, Org } from '../schema/types.ts';

objectType(ClaimedDomain, claimedDomainResource);

builder.queryField('claimedDomain', (t) =>
  t.field({
    ...needing(findClaimedDomain),
    type: ClaimedDomain,
    nullable: true,
    args: parsedArgs(t.arg, domainKey),
    resolve: (_root, key, { call }) => findClaimedDomain(call, key),
  }),
);

builder.objectField(Org, 'claimedDomains', (t) =>
  listField(t, ClaimedDomains, {
    list: listClaimedDomains,
  }),
);

builder.mutationField('claimDomain', (t) =>
  mutationField(t, claimDomain, payload('claimDomain', 'claimedDomain', ClaimedDomain)),
);

builder.mutationFields((t) => ({
  verifyClaimedDomain: mutationField(
    t,
    verifyClaimedDomain,
    payload('verifyClaimedDomain', 'claimedDomain', ClaimedDomain),
  ),
  releaseClaimedDomain: mutationField(t, releaseClaimedDomain, DeletePayload),
  joinOrg: mutationField(t, joinOrg, payload('joinOrg', 'org', Org)),
}));
