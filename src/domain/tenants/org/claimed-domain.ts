/** Manages email domains that orgs have claimed. domain-proof.ts proves the claims. */
import { z } from 'zod';
import { run, sql } from '../../../database/statements/statements.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction } from '../../../database/transactions/transaction.ts';
import { conflict, notFound } from '../../../kernel/errors.ts';
import { id, newId } from '../../../kernel/ids.ts';
import { DAY_MS } from '../../../work/durations.ts';
import type { Call, RowCall } from '../../access/call.ts';
import { orgMutation } from '../../access/declared-mutation.ts';
import { read } from '../../access/declared-read.ts';
import type { PageArgs } from '../../access/paging/page.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import { canSeeClaimedDomain, listOrgIds, toOrgCondition } from '../../access/scope.ts';
import { ADMIN } from '../../access/viewer/needs.ts';
import { claimableDomain, domainName } from '../../base/domain-name.ts';
import { computed, createdFields, resource } from '../../base/resource.ts';
import { parentFields, parentType } from './org.ts';

type ClaimedDomain = Row<'ClaimedDomain'>;

export const claimedDomainResource = resource(
  'ClaimedDomain',
  'An email domain that an org has claimed. An unproven claim excludes other orgs for 7 days, and a proven claim permanently.',
  {
    ...createdFields,
    ...parentFields,
    domain: z.string().describe('The domain, in lower case and Punycode.'),
    verifiedTime: z
      .date()
      .nullable()
      .describe('When the DNS record was found. {Null} for an unproven claim.'),
    verificationText: computed(
      z
        .string()
        .describe(
          'The text that a TXT record of the domain must contain for `verifyClaimedDomain`.',
        ),
      createVerificationText,
    ),
  },
);

/** Returns the text of the DNS record. It contains the id of the claim, so that it can't prove a claim of another org. */
export function createVerificationText({ id }: Pick<ClaimedDomain, 'id'>): string {
  return `integration-gateway-verification=${id}`;
}

/** How long an unproven claim prevents claims of other orgs. */
const UNPROVEN_MS = 7 * DAY_MS;

export const domainKey = z.object({
  domain: domainName.describe(
    'The domain: an email address, a domain name or a URL that contains it.',
  ),
});
type DomainKey = z.output<typeof domainKey>;

const claimDomainInput = z
  .object({
    domain: claimableDomain.describe(
      'The domain: an email address, a domain name or a URL that contains it. Public suffixes (co.uk, github.io) and domains of mail services (gmail.com) are rejected.',
    ),
    parentId: id.describe('The id of the org that the domain belongs to.'),
    parentType: parentType.describe('The type of the object that parentId identifies: an org.'),
  })
  .meta({
    id: 'ClaimDomainInput',
    description: 'The domain to claim, and the org that claims it.',
  });

/** Returns null if no claim on the domain exists, or if the viewer may not see it. */
export const findClaimedDomain = read(
  'org:read',
  'The claim on a domain; null if there is none. Only the org that has it sees it, and builders with an email address of the domain.',
  findVisibleDomain,
);

/** Throws NOT_FOUND if the viewer may see no claim on the domain. */
export const getClaimedDomain = read(
  'org:read',
  'Returns the claim on a domain.',
  async (call: RowCall, key: DomainKey) => {
    const claimedDomain = await findVisibleDomain(call, key);
    if (!claimedDomain) throw notFound('A claim on', key.domain);
    return claimedDomain;
  },
);

/** Prefers a claim of the caller's orgs, then the proven claim, then the oldest one. */
async function findVisibleDomain({ viewer, database }: RowCall, { domain }: DomainKey) {
  const claimedDomains = await database.reads.find('ClaimedDomain', { domain });
  const visibleDomains = claimedDomains.filter((claimedDomain) =>
    canSeeClaimedDomain(viewer, claimedDomain),
  );
  const rankDomain = ({ orgId, verifiedTime }: ClaimedDomain) => {
    if (listOrgIds(viewer).includes(orgId)) return 0;
    return verifiedTime ? 1 : 2;
  };
  const [claimedDomain] = visibleDomains.sort(
    (a, b) => rankDomain(a) - rankDomain(b) || (a.id < b.id ? -1 : 1),
  );
  return claimedDomain ?? null;
}

export const listClaimedDomains = read(
  'org:read',
  'Lists the domains that an org has claimed, newest first.',
  (call: Call, org: Row<'Org'>, args: PageArgs) => {
    const list = {
      name: 'Org.claimedDomains',
      parentId: org.id,
      table: 'ClaimedDomain',
      where: { orgId: toOrgCondition(call.viewer, org) },
    } as const;
    return listPage(call, list, args);
  },
);

/** Throws CONFLICT if another claim on the domain is still valid. */
export const claimDomain = orgMutation({
  description:
    'Claims an email domain for an org of the caller. Without a proof, another org may claim it after 7 days.',
  needs: ADMIN,
  input: claimDomainInput,
  async run(call, { domain }, { id: orgId }): Promise<ClaimedDomain> {
    const validAfter = new Date(call.now().getTime() - UNPROVEN_MS);
    return inTransaction(call.database, async (tx) => {
      // The lock lasts until the commit, so that the second of two concurrent claims sees the first one.
      // Prisma can't read the type void.
      await run(tx, sql`select pg_advisory_xact_lock(hashtextextended(${domain}, 0))::text`);
      const claimedDomains = await tx.claimedDomain.findMany({ where: { domain } });
      const isValid = (claimedDomain: ClaimedDomain) =>
        claimedDomain.verifiedTime !== null ||
        claimedDomain.orgId === orgId ||
        claimedDomain.createTime > validAfter;
      if (claimedDomains.some(isValid)) throw conflict(`The domain ${domain} is already claimed.`);
      return tx.claimedDomain.create({ data: { id: newId('dom'), domain, orgId } });
    });
  },
});
