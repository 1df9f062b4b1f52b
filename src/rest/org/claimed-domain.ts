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

const claimedDomain = resource(
  'ClaimedDomain',
  'The claim: an e-mail domain that an org has claimed. No other org can claim it.',
  {
    id: createdShape.id,
    domain: z.string().describe('The domain, in lower case and Punycode.'),
    ...parentShape,
    createTime: createdShape.createTime,
  },
);

function showClaimedDomain(row: Row<'ClaimedDomain'>) {
  return { ...row, ...showParent(row) };
}

export const claimedDomainEndpoints = [
  mutationEndpoint({
    id: 'claimDomain',
    method: 'POST',
    path: '/claimed-domains',
    tag,
    summary: 'Claims an e-mail domain for an org of the caller. No other org can claim it then.',
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
];
