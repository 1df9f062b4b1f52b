import {
  claimDomain,
  domainKey,
  findClaimedDomain,
  listClaimedDomains,
} from '../../domain/org/claimed-domain.ts';
import { createdFields, listField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { needing } from '../schema/needing.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { answer } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { ClaimedDomain, ClaimedDomains, Org } from '../schema/types.ts';
import { parentFields } from './org.ts';

ClaimedDomain.implement({
  description: 'An e-mail domain that an org has claimed. No other org can claim it.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    ...parentFields(t),
    domain: t.exposeString('domain', { description: 'The domain, in lower case and Punycode.' }),
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
    type: answer(
      'ClaimDomainPayload',
      'claimedDomain',
      ClaimedDomain,
      'The claim. It holds at once.',
    ),
    description:
      'Claims an e-mail domain for an org of the caller. No other org can claim it then.',
  }),
);
