/** Proves claims on domains by a DNS record, releases them, and lets people of a proven domain join its org. */

import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction } from '../../../database/transactions/transaction.ts';
import { notFound, unprocessable } from '../../../kernel/errors.ts';
import { id } from '../../../kernel/ids.ts';
import type { Call, RowCall, RowServices } from '../../access/call.ts';
import { builderMutation } from '../../access/declared-mutation.ts';
import { read } from '../../access/declared-read.ts';
import type { PageArgs } from '../../access/paging/page.ts';
import { createArrayPage } from '../../access/paging/page-of-array.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import { requireUnique } from '../../access/row-changes.ts';
import { ADMIN, requireAdmin } from '../../access/viewer/needs.ts';
import type { BuilderViewer } from '../../access/viewer/viewer.ts';
import { applyRole } from '../../access/viewer/viewer-cache.ts';
import { parseDomain } from '../../base/domain-name.ts';
import { createVerificationText } from './claimed-domain.ts';
import { insertMember } from './membership.ts';

type ClaimedDomain = Row<'ClaimedDomain'>;

const claimedDomainId = id.describe('The id of the claim.');

const verifyClaimedDomainInput = z
  .object({ claimedDomainId })
  .meta({ id: 'VerifyClaimedDomainInput', description: 'The claim to prove.' });

const releaseClaimedDomainInput = z
  .object({ claimedDomainId })
  .meta({ id: 'ReleaseClaimedDomainInput', description: 'The claim to release.' });

const joinOrgInput = z
  .object({ orgId: id.describe('The id of an org in `Viewer.joinableOrgs`.') })
  .meta({ id: 'JoinOrgInput', description: 'The org to join.' });

/** Throws UNPROCESSABLE if no record proves the claim. */
export const verifyClaimedDomain = builderMutation({
  description:
    "Proves a claim by the domain's DNS: a TXT record must contain the claim's `verificationText`. Builders with an email address of the domain can then join the org, and claims of other orgs end.",
  needs: ADMIN,
  input: verifyClaimedDomainInput,
  async run(call, { claimedDomainId }, viewer): Promise<ClaimedDomain> {
    const claimedDomain = await getClaimedDomainToChange(call, viewer, claimedDomainId);
    if (claimedDomain.verifiedTime) return claimedDomain;
    await requireTxtRecord(call, claimedDomain);
    const { id, domain } = claimedDomain;
    const change = inTransaction(call.database, async (tx) => {
      await tx.claimedDomain.deleteMany({ where: { domain, provenDomain: null, id: { not: id } } });
      const data = { verifiedTime: call.now(), provenDomain: domain };
      return tx.claimedDomain.update({ where: { id }, data });
    });
    return requireUnique(change, `Another org has proven ${domain}.`);
  },
});

async function requireTxtRecord(call: Call, claimedDomain: ClaimedDomain): Promise<void> {
  const { domain } = claimedDomain;
  const texts = await call.readTxtRecords(domain).catch((error: unknown) => {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw unprocessable(`The DNS of ${domain} did not respond (${code}). Try again later.`);
  });
  if (texts.includes(createVerificationText(claimedDomain))) return;
  throw unprocessable(
    `No TXT record of ${domain} contains ${createVerificationText(claimedDomain)}. Create it and try again. A new record may take hours to become visible.`,
  );
}

export const releaseClaimedDomain = builderMutation({
  description:
    'Releases a claim, proven or not. Members of the org stay, but no one can join by the domain any more.',
  needs: ADMIN,
  input: releaseClaimedDomainInput,
  async run(call, { claimedDomainId }, viewer): Promise<{ deletedId: string }> {
    const { id } = await getClaimedDomainToChange(call, viewer, claimedDomainId);
    await call.database.prisma.claimedDomain.deleteMany({ where: { id } });
    return { deletedId: id };
  },
});

/**
 * Returns a claim of the viewer's orgs. Throws NOT_FOUND for a claim of another org, even if the viewer may see it, and
 * FORBIDDEN if the viewer is not an admin of the org.
 */
async function getClaimedDomainToChange(
  call: RowCall,
  viewer: BuilderViewer,
  id: string,
): Promise<ClaimedDomain> {
  const [claimedDomain] = await call.database.reads.find('ClaimedDomain', {
    id,
    orgId: [...viewer.roles.keys()],
  });
  if (!claimedDomain) throw notFound('Claimed domain', id);
  requireAdmin(viewer, claimedDomain.orgId);
  return claimedDomain;
}

/** Omits orgs to which the caller already belongs. */
export const listJoinableOrgs = read(
  'nothing',
  "Lists the orgs that have proven the domain of the caller's email address.",
  async (call: Call, args: PageArgs) => {
    const name = 'Viewer.joinableOrgs';
    const { viewer } = call;
    const ids = viewer.kind === 'BUILDER' ? await listJoinableOrgIds(call, viewer) : [];
    if (ids.length === 0) {
      return createArrayPage({ name, key: ({ id }: Row<'Org'>) => id }, [], args);
    }
    return listPage(call, { name, table: 'Org', where: { id: ids } }, args);
  },
);

/** An existing member keeps its role. */
export const joinOrg = builderMutation({
  description:
    "Adds the caller to an org that has proven the domain of the caller's email address, with the role MEMBER.",
  input: joinOrgInput,
  async run(call, { orgId }, viewer): Promise<Row<'Org'>> {
    const { prisma } = call.database;
    const permittedOrgIds = [...viewer.roles.keys(), ...(await listJoinableOrgIds(call, viewer))];
    if (!permittedOrgIds.includes(orgId)) throw notFound('Org', orgId);
    const key = { orgId, builderId: viewer.id };
    const role = await insertMember(prisma, { ...key, role: 'MEMBER' });
    applyRole(call, { ...key, role });
    return prisma.org.findUniqueOrThrow({ where: { id: orgId } });
  },
});

async function listJoinableOrgIds(
  { database }: RowServices,
  viewer: BuilderViewer,
): Promise<string[]> {
  const provenDomain = viewer.email && parseDomain(viewer.email);
  if (!provenDomain) return [];
  const claims = await database.reads.find('ClaimedDomain', { provenDomain });
  return claims.map(({ orgId }) => orgId).filter((orgId) => !viewer.roles.has(orgId));
}
