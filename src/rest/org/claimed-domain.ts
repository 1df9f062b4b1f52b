import { z } from 'zod';
import { within } from '../../domain/declared-read.ts';
import {
  claimDomain,
  domainKey,
  getClaimedDomain,
  listClaimedDomains,
} from '../../domain/org/claimed-domain.ts';
import {
  joinOrg,
  listJoinableOrgs,
  releaseClaimedDomain,
  verificationText,
  verifyClaimedDomain,
} from '../../domain/org/domain-proof.ts';
import { getOwnOrg } from '../../domain/org/org.ts';
import type { Row } from '../../domain/scope.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { createdShape, resource } from '../openapi/schemas.ts';
import { org, orgId, parentShape, showOrg, showParent } from './org.ts';

const tag = 'Claimed domains';

const claimedDomain = resource(
  'ClaimedDomain',
  'The claim: an e-mail domain that an org has claimed. No other org can claim it for 7 days, and once it is proven.',
  {
    id: createdShape.id,
    domain: z.string().describe('The domain, in lower case and Punycode.'),
    ...parentShape,
    createTime: createdShape.createTime,
    verifiedTime: z
      .date()
      .optional()
      .describe('When the DNS record was found; left out until then.'),
    verificationText: z
      .string()
      .describe('What a TXT record of the domain must hold for the claim to be proven.'),
  },
);

function showClaimedDomain({ verifiedTime, ...row }: Row<'ClaimedDomain'>) {
  const proof = {
    verifiedTime: verifiedTime ?? undefined,
    verificationText: verificationText(row),
  };
  return { ...row, ...showParent(row), ...proof };
}

export const claimedDomainEndpoints = [
  mutationEndpoint({
    id: 'claimDomain',
    method: 'POST',
    path: '/claimed-domains',
    tag,
    summary:
      'Claims an e-mail domain for an org of the caller. Without a proof another org may claim it after 7 days.',
    description: 'The Location header has the path of the claim.',
    mutation: claimDomain,
    status: 201,
    output: null,
    show({ domain }, { url, setHeader }) {
      setHeader('location', `${url.split('?')[0]}?${new URLSearchParams({ domain })}`);
    },
  }),
  readEndpoint({
    id: 'getClaimedDomain',
    path: '/claimed-domains',
    tag,
    summary: 'Gets the claim on a domain.',
    description:
      'Only the org that has it sees it, and builders with an e-mail address of the domain.',
    input: domainKey,
    read: getClaimedDomain,
    output: claimedDomain,
    show: showClaimedDomain,
  }),
  listEndpoint({
    id: 'listClaimedDomains',
    path: '/orgs/{orgId}/claimed-domains',
    tag,
    summary: 'Lists the domains that an org has claimed, newest first.',
    input: z.object({ orgId }),
    item: claimedDomain,
    list: within(getOwnOrg, listClaimedDomains),
    show: showClaimedDomain,
  }),
  mutationEndpoint({
    id: 'verifyClaimedDomain',
    method: 'POST',
    path: '/claimed-domains/{claimedDomainId}:verify',
    tag,
    summary: 'Proves a claim: a TXT record of the domain must hold its verificationText.',
    description:
      'Builders with an e-mail address of the domain can join the org then, and claims of other orgs end.',
    mutation: verifyClaimedDomain,
    status: 200,
    output: claimedDomain,
    show: showClaimedDomain,
  }),
  mutationEndpoint({
    id: 'releaseClaimedDomain',
    method: 'DELETE',
    path: '/claimed-domains/{claimedDomainId}',
    tag,
    summary: 'Gives up a claim, proven or not. Members of the org stay.',
    mutation: releaseClaimedDomain,
    status: 204,
    output: null,
    show: noBody,
  }),
  listEndpoint({
    id: 'listJoinableOrgs',
    path: '/joinable-orgs',
    tag,
    summary: "Lists the orgs that have proven the domain of the caller's e-mail address.",
    input: z.object({}),
    item: org,
    list: listJoinableOrgs,
    show: showOrg,
  }),
  mutationEndpoint({
    id: 'joinOrg',
    method: 'POST',
    path: '/orgs/{orgId}:join',
    tag,
    summary: 'Makes the caller a member of an org that has proven the domain of their address.',
    mutation: joinOrg,
    status: 200,
    output: org,
    show: showOrg,
  }),
];
