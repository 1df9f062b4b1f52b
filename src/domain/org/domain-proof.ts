/** Proves claims on domains by a DNS record, releases them, and lets people of a proven domain join its org. */
import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import { inTransaction } from '../../database/transaction.ts';
import { notFound, unprocessable } from '../../errors.ts';
import { id } from '../../ids.ts';
import type { Call } from '../call.ts';
import { builderMutation } from '../declared-mutation.ts';
import { read } from '../declared-read.ts';
import type { PageArgs } from '../paging/page.ts';
import { pageOfArray } from '../paging/page-of-array.ts';
import { listPage } from '../paging/page-of-rows.ts';
import { uniquely } from '../unique.ts';
import { type BuilderViewer, renewMembership } from '../viewer/viewer.ts';
import { verificationText } from './claimed-domain.ts';
import { domainOf } from './domain-name.ts';

type ClaimedDomain = Row<'ClaimedDomain'>;

const claimedDomainId = id.describe('The id of the claim.');

export const verifyClaimedDomainInput = z
  .object({ claimedDomainId })
  .meta({ id: 'VerifyClaimedDomainInput', description: 'The claim to prove.' });

export const releaseClaimedDomainInput = z
  .object({ claimedDomainId })
  .meta({ id: 'ReleaseClaimedDomainInput', description: 'The claim to give up.' });

export const joinOrgInput = z
  .object({ orgId: id.describe('The id of the org: one of `Viewer.joinableOrgs`.') })
  .meta({ id: 'JoinOrgInput', description: 'The org to join.' });

/**
 * Proves a claim by reading the domain's TXT records. Other orgs' claims on the domain end. Throws UNPROCESSABLE
 * without the record.
 */
export const verifyClaimedDomain = builderMutation({
  description:
    "Proves a claim: a TXT record of the domain must hold the claim's `verificationText`. Builders with an e-mail address of the domain can join the org then, and claims of other orgs end.",
  input: verifyClaimedDomainInput,
  async run(call, { claimedDomainId }, viewer): Promise<ClaimedDomain> {
    const claimed = await getOwnClaim(call, viewer, claimedDomainId);
    if (claimed.verifiedTime) return claimed;
    await requireRecord(call, claimed);
    const { id, domain } = claimed;
    const proven = inTransaction(call.database, async (tx) => {
      await tx.claimedDomain.deleteMany({ where: { domain, provenDomain: null, id: { not: id } } });
      const data = { verifiedTime: call.now(), provenDomain: domain };
      return tx.claimedDomain.update({ where: { id }, data });
    });
    return uniquely(proven, `Another org has proven ${domain} meanwhile.`);
  },
});

async function requireRecord(call: Call, claimed: ClaimedDomain): Promise<void> {
  const { domain } = claimed;
  const texts = await call.readTxtRecords(domain).catch((error: unknown) => {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw unprocessable(`The DNS of ${domain} did not respond (${code}). Try again later.`);
  });
  if (texts.includes(verificationText(claimed))) return;
  throw unprocessable(
    `No TXT record of ${domain} holds ${verificationText(claimed)}. Create it and try again; a new record may take hours to be seen.`,
  );
}

/** Releases a claim. Members stay, but no one can join by the domain any more. */
export const releaseClaimedDomain = builderMutation({
  description: 'Gives up a claim, proven or not. Members of the org stay.',
  input: releaseClaimedDomainInput,
  async run(call, { claimedDomainId }, viewer): Promise<{ deletedId: string }> {
    const { id } = await getOwnClaim(call, viewer, claimedDomainId);
    await call.database.prisma.claimedDomain.deleteMany({ where: { id } });
    return { deletedId: id };
  },
});

/** Finds a claim of the viewer's orgs. Throws NOT_FOUND for a claim of another org, also if the viewer may see it. */
async function getOwnClaim(call: Call, viewer: BuilderViewer, id: string): Promise<ClaimedDomain> {
  const [claimed] = await call.database.rows.find('ClaimedDomain', {
    id,
    orgId: [...viewer.orgIds],
  });
  if (!claimed) throw notFound('Claimed domain', id);
  return claimed;
}

/** Lists orgs that have proven the domain of the builder's address and that the builder does not belong to. */
export const listJoinableOrgs = read(
  'nothing',
  "Lists the orgs that have proven the domain of the caller's e-mail address.",
  async (call: Call, args: PageArgs) => {
    const name = 'Viewer.joinableOrgs';
    const { viewer } = call;
    const ids = viewer.kind === 'BUILDER' ? await findJoinable(call, viewer) : [];
    if (ids.length === 0) return pageOfArray({ name, key: ({ id }: Row<'Org'>) => id }, [], args);
    return listPage(call, { name, table: 'Org', where: { id: ids } }, args);
  },
);

/** Joins an org that has proven the domain of the builder's address. An existing member stays one. */
export const joinOrg = builderMutation({
  description:
    "Makes the caller a member of an org that has proven the domain of the caller's e-mail address.",
  input: joinOrgInput,
  async run(call, { orgId }, viewer): Promise<Row<'Org'>> {
    const { prisma } = call.database;
    const permitted = [...viewer.orgIds, ...(await findJoinable(call, viewer))];
    if (!permitted.includes(orgId)) throw notFound('Org', orgId);
    const data = { orgId, builderId: viewer.id };
    await prisma.orgMember.createMany({ data, skipDuplicates: true });
    renewMembership(call, viewer, orgId);
    return prisma.org.findUniqueOrThrow({ where: { id: orgId } });
  },
});

async function findJoinable({ database }: Call, viewer: BuilderViewer): Promise<string[]> {
  const provenDomain = viewer.email && domainOf(viewer.email);
  if (!provenDomain) return [];
  const proven = await database.rows.find('ClaimedDomain', { provenDomain });
  return proven.map(({ orgId }) => orgId).filter((orgId) => !viewer.orgIds.includes(orgId));
}
