import { z } from 'zod';
import { within } from '../../domain/declared-read.ts';
import {
  claimDomain,
  domainKey,
  getClaimedDomain,
  listClaimedDomains,
} from '../../domain/org/claimed-domain.ts';
import { getOwnOrg } from '../../domain/org/org.ts';
import type { Row } from '../../domain/scope.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { createdShape, resource } from '../openapi/schemas.ts';
import { orgId, parentShape, showParent } from './org.ts';

const tag = 'Claimed domains';

const claimedDomain = resource('ClaimedDomain', 'An e-mail domain that an org has claimed.', {
  id: createdShape.id,
  domain: z.string().describe('The domain, lowercase and in Punycode.'),
  ...parentShape,
  createTime: createdShape.createTime,
});

function showClaimedDomain(row: Row<'ClaimedDomain'>) {
  return { ...row, ...showParent(row) };
}

export const claimedDomainEndpoints = [
  mutationEndpoint({
    id: 'claimDomain',
    method: 'POST',
    path: '/claimed-domains',
    tag,
    summary: 'Claims a domain for an org of the caller; no other org can.',
    description: 'The Location header tells where the claim is.',
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
    summary: 'Gives the claim on a domain.',
    description: 'For the org that has it, and for builders whose e-mail address is of it.',
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
];
