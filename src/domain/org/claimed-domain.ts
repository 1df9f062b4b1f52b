/** E-mail domains that orgs have claimed; one org for each domain in the whole service. */

import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import { notFound } from '../../errors.ts';
import { id, newId } from '../../ids.ts';
import type { Call } from '../call.ts';
import { builderMutation } from '../declared-mutation.ts';
import { read } from '../declared-read.ts';
import type { PageArgs } from '../paging/page.ts';
import { listPage } from '../paging/page-of-rows.ts';
import { getOrg, seesClaimedDomain } from '../scope.ts';
import { uniquely } from '../unique.ts';
import { domainName } from './domain-name.ts';

type ClaimedDomain = Row<'ClaimedDomain'>;

export const domainKey = z.object({
  domain: domainName.describe(
    'The domain: an e-mail address, a domain name or a URL from which it is taken.',
  ),
});
type DomainKey = z.output<typeof domainKey>;

export const claimDomainInput = z
  .object({
    ...domainKey.shape,
    parentId: id.describe('The id of the org that the domain belongs to.'),
    parentType: z
      .enum(['ORG'])
      .meta({ id: 'ParentType', description: 'The type that parentId is an id of: an org.' }),
  })
  .meta({
    id: 'ClaimDomainInput',
    description: 'The domain to claim, and the org that claims it.',
  });

/** The claim on a domain; null if there is none or the viewer may not see it. */
export const findClaimedDomain = read('org:read', findClaim);

/** The same; throws NOT_FOUND instead of null. */
export const getClaimedDomain = read('org:read', async (call: Call, key: DomainKey) => {
  const claimed = await findClaim(call, key);
  if (!claimed) throw notFound('A claim on', key.domain);
  return claimed;
});

async function findClaim({ viewer, database }: Call, { domain }: DomainKey) {
  const [claimed] = await database.rows.find('ClaimedDomain', { domain });
  return claimed && seesClaimedDomain(viewer, claimed) ? claimed : null;
}

export const listClaimedDomains = read(
  'org:read',
  (call: Call, org: Row<'Org'>, args: PageArgs) => {
    const list = {
      name: 'Org.claimedDomains',
      parentId: org.id,
      table: 'ClaimedDomain',
      where: { orgId: org.id },
    } as const;
    return listPage(call, list, args);
  },
);

/** The first claim wins: a second one is refused, also of the same org. */
export const claimDomain = builderMutation({
  input: claimDomainInput,
  async run(call, { domain, parentId }): Promise<ClaimedDomain> {
    const { id: orgId } = await getOrg(call, parentId);
    const data = { id: newId('dom'), domain, orgId };
    return uniquely(
      call.database.prisma.claimedDomain.create({ data }),
      `The domain ${domain} is already claimed.`,
    );
  },
});
