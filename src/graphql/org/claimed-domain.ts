import {
  claimDomain,
  domainKey,
  findClaimedDomain,
  listClaimedDomains,
} from '../../domain/org/claimed-domain.ts';
import {
  joinOrg,
  releaseClaimedDomain,
  verificationText,
  verifyClaimedDomain,
} from '../../domain/org/domain-proof.ts';
import { createdFields, listField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { needing } from '../schema/needing.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { ClaimedDomain, ClaimedDomains, Org } from '../schema/types.ts';
import { parentFields } from './org.ts';

ClaimedDomain.implement({
  description:
    'An e-mail domain that an org has claimed. No other org can claim it for 7 days, and once it is proven.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    ...parentFields(t),
    domain: t.exposeString('domain', { description: 'The domain, in lower case and Punycode.' }),
    verifiedTime: t.expose('verifiedTime', {
      type: 'DateTime',
      nullable: true,
      description: 'When the DNS record was found; null until then.',
    }),
    verificationText: t.string({
      description: 'What a TXT record of the domain must hold for `verifyClaimedDomain`.',
      resolve: verificationText,
    }),
  }),
});

builder.queryField('claimedDomain', (t) =>
  t.field({
    ...needing(
      findClaimedDomain,
      'The claim on a domain; null if there is none. Only the org that has it sees it, and builders with an e-mail address of the domain.',
    ),
    type: ClaimedDomain,
    nullable: true,
    args: parsedArgs(t.arg, domainKey),
    resolve: (_root, key, { call }) => findClaimedDomain(call, key),
  }),
);

builder.objectField(Org, 'claimedDomains', (t) =>
  listField(t, ClaimedDomains, {
    description: 'The e-mail domains that the org has claimed, newest first.',
    list: listClaimedDomains,
  }),
);

builder.mutationField('claimDomain', (t) =>
  mutationField(t, claimDomain, {
    type: payload(
      'ClaimDomainPayload',
      'claimedDomain',
      ClaimedDomain,
      'The claim. Prove it within 7 days.',
    ),
    description:
      'Claims an e-mail domain for an org of the caller. Without a proof another org may claim it after 7 days.',
  }),
);

builder.mutationFields((t) => ({
  verifyClaimedDomain: mutationField(t, verifyClaimedDomain, {
    type: payload(
      'VerifyClaimedDomainPayload',
      'claimedDomain',
      ClaimedDomain,
      'The claim, which is proven now.',
    ),
    description:
      "Proves a claim: a TXT record of the domain must hold the claim's `verificationText`. Builders with an e-mail address of the domain can join the org then, and claims of other orgs end.",
  }),
  releaseClaimedDomain: mutationField(t, releaseClaimedDomain, {
    type: DeletePayload,
    description: 'Gives up a claim, proven or not. Members of the org stay.',
  }),
  joinOrg: mutationField(t, joinOrg, {
    type: payload('JoinOrgPayload', 'org', Org, 'The org, with the caller as a member.'),
    description:
      "Makes the caller a member of an org that has proven the domain of the caller's e-mail address.",
  }),
}));
