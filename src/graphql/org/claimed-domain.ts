import {
  claimDomain,
  claimDomainInput,
  findClaimedDomain,
  listClaimedDomains,
} from '../../domain/org/claimed-domain.ts';
import { domainName } from '../../domain/org/domain-name.ts';
import { createdFields, listField } from '../schema/fields.ts';
import { inputArg } from '../schema/inputs.ts';
import { Node } from '../schema/node-field.ts';
import { payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { ClaimedDomain, ClaimedDomains, Org } from '../schema/types.ts';
import { parentFields } from './org.ts';

ClaimedDomain.implement({
  description: 'An e-mail domain that an org has claimed; no other org can.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    ...parentFields(t),
    domain: t.exposeString('domain', { description: 'The domain, lowercase and in Punycode.' }),
  }),
});

builder.queryField('claimedDomain', (t) =>
  t.field({
    type: ClaimedDomain,
    nullable: true,
    description:
      'The claim on a domain, for the org that has it and for builders whose e-mail address is of it; else null.',
    args: {
      domain: t.arg({
        type: 'String',
        required: true,
        description: 'An e-mail address, a domain name or a URL.',
        validate: { schema: domainName } as never,
      }),
    },
    resolve: (_root, { domain }, { call }) => findClaimedDomain(call, domain),
  }),
);

builder.objectField(Org, 'claimedDomains', (t) =>
  listField(t, ClaimedDomains, {
    description: 'The e-mail domains that it has claimed, newest first.',
    list: listClaimedDomains,
  }),
);

builder.mutationField('claimDomain', (t) =>
  t.field({
    type: payload('ClaimDomainPayload', 'claimedDomain', ClaimedDomain, 'The claim.'),
    description: "Claims a domain for an org of the caller. Needs a builder's bearer token.",
    args: inputArg(t.arg, claimDomainInput),
    resolve: async (_root, { input }, { call }) => ({
      claimedDomain: await claimDomain(call, input),
    }),
  }),
);
