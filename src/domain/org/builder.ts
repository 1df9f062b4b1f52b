/** Builders: the people of an org. The first use of a person's token creates one (bearer.ts). */

import type { Row } from '../../database/rows.ts';
import { notFound } from '../../errors.ts';
import { load } from '../batched.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import type { PageArgs } from '../paging/page.ts';
import { listPage } from '../paging/page-of-rows.ts';
import { byId, ownOrgId } from '../scope.ts';

/** The members of an org, in the order of their ids. */
export const listBuilders = read('org:read', (call: Call, org: Row<'Org'>, args: PageArgs) => {
  return listPage(
    call,
    {
      name: 'Org.builders',
      parentId: org.id,
      table: 'OrgMember',
      where: { orgId: ownOrgId(call.viewer, org) },
      key: 'builderId',
      nodes: (members) =>
        Promise.all(members.map(({ builderId }) => load(call, byId('Builder'), builderId))),
    },
    args,
  );
});

/** Returns the caller, if it is a builder. Throws NOT_FOUND. */
export const getOwnBuilder = read('bearer', async (call: Call): Promise<Row<'Builder'>> => {
  const { id } = call.viewer;
  const builder = await load(call, byId('Builder'), id);
  if (!builder) throw notFound('Builder', id);
  return builder;
});
