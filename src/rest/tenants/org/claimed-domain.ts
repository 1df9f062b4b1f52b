import { z } from 'zod';
import { readWithin } from '../../../domain/access/declared-read.ts';
import {
  claimDomain,
  claimedDomainResource,
  domainKey,
  getClaimedDomain,
  listClaimedDomains,
} from '../../../domain/tenants/org/claimed-domain.ts';
import {
  joinOrg,
  listJoinableOrgs,
  releaseClaimedDomain,
  verifyClaimedDomain,
} from '../../../domain/tenants/org/domain-proof.ts';
import { getRequestedOrg } from '../../../domain/tenants/org/org.ts';
import {
  deleteEndpoint,
  listEndpoint,
  mutationEndpoint,
  readEndpoint,
} from '../../endpoint/resource-endpoints.ts';
import { org, orgId } from './org.ts';

const tag = 'Claimed domains';

export const claimedDomainEndpoints = [
  mutationEndpoint({
    id: 'claimDomain',
    method: 'POST',
    path: '/claimed-domains',
    tag,
    description: 'The Location header has the path of the claim.',
    mutation: claimDomain,
    status: 201,
    resource: null,
    show({ domain }, { url, setHeader }) {
      setHeader('location', `${url.split('?')[0]}?${new URLSearchParams({ domain })}`);
    },
  }),
  readEndpoint({
    id: 'getClaimedDomain',
    path: '/claimed-domains',
    tag,
    description:
      'Visible only to members of the org that has it, and to builders with an email address of the domain.',
    input: domainKey,
    read: getClaimedDomain,
    resource: claimedDomainResource,
  }),
  listEndpoint({
    id: 'listClaimedDomains',
    path: '/orgs/{orgId}/claimed-domains',
    tag,
    input: z.object({ orgId }),
    list: readWithin(getRequestedOrg, listClaimedDomains),
    resource: claimedDomainResource,
  }),
  mutationEndpoint({
    id: 'verifyClaimedDomain',
    method: 'POST',
    path: '/claimed-domains/{claimedDomainId}:verify',
    tag,
    mutation: verifyClaimedDomain,
    status: 200,
    resource: claimedDomainResource,
  }),
  deleteEndpoint({
    id: 'releaseClaimedDomain',
    path: '/claimed-domains/{claimedDomainId}',
    tag,
    mutation: releaseClaimedDomain,
  }),
  listEndpoint({
    id: 'listJoinableOrgs',
    path: '/joinable-orgs',
    tag,
    input: z.object({}),
    list: listJoinableOrgs,
    resource: org,
  }),
  mutationEndpoint({
    id: 'joinOrg',
    method: 'POST',
    path: '/orgs/{orgId}:join',
    tag,
    mutation: joinOrg,
    status: 200,
    resource: org,
  }),
];
