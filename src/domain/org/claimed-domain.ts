/** E-mail domains that orgs have claimed; one org for each domain in the whole service. */

import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import { notFound } from '../../errors.ts';
import { id, newId } from '../../ids.ts';
import type { Call } from '../call.ts';
import { builderMutation } from '../declared-mutation.ts';
import { read } from '../declared-read.ts';
import { listPage, type PageArgs } from '../page.ts';
import { getOrg, seesClaimedDomain } from '../scope.ts';
import { uniquely } from '../unique.ts';
import { domainName } from './domain-name.ts';

type ClaimedDomain = Row<'ClaimedDomain'>;

export const domainKey = z.object({
  domain: domainName.describe('An e-mail address, a domain name or a URL.'),
});
type DomainKey = z.output<typeof domainKey>;

export const claimDomainInput = z
  .object({
    ...domainKey.shape,
    parentId: id.describe('Whose the domain is: the id of an org.'),
    parentType: z.enum(['ORG']).meta({ id: 'ParentType', description: 'What has that id.' }),
  })
  .meta({
    id: 'ClaimDomainInput',
    description: 'A domain to claim; it is taken from an e-mail address, a domain name or a URL.',
  });

/** The claim on a domain, where the viewer may see it. */
export const findClaimedDomain = read('org:read', findClaim);

/** The same where there must be one. */
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

/** The first org has it: a second claim is refused, also one of the same org. */
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
