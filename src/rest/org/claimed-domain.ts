import { z } from 'zod';
import {
  claimDomain,
  claimDomainInput,
  getClaimedDomain,
  listClaimedDomains,
} from '../../domain/org/claimed-domain.ts';
import { getOwnOrg } from '../../domain/org/org.ts';
import { within } from '../../domain/declared-read.ts';
import type { Row } from '../../domain/scope.ts';
import { endpoint } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
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
  endpoint({
    id: 'claimDomain',
    method: 'POST',
    path: '/claimed-domains',
    tag,
    summary: 'Claims a domain for an org of the caller; no other org can.',
    description: 'The Location header tells where the claim is.',
    needs: 'bearer',
    input: claimDomainInput,
    status: 201,
    output: null,
    async run({ call, url, setHeader }, input) {
      const { domain } = await claimDomain(call, input);
      setHeader('location', `${url.split('?')[0]}?${new URLSearchParams({ domain })}`);
    },
  }),
  endpoint({
    id: 'getClaimedDomain',
    method: 'GET',
    path: '/claimed-domains',
    tag,
    summary: 'Gives the claim on a domain.',
    description: 'For the org that has it, and for builders whose e-mail address is of it.',
    needs: 'org:read',
    input: z.object({ domain: claimDomainInput.shape.domain }),
    status: 200,
    output: claimedDomain,
    run: async ({ call }, { domain }) => showClaimedDomain(await getClaimedDomain(call, domain)),
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
