/** Builders: the people of orgs. The first use of a person's token creates the builder (bearer.ts). */
import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { notFound } from '../../../kernel/errors.ts';
import { load } from '../../access/batched.ts';
import type { Call } from '../../access/call.ts';
import { read } from '../../access/declared-read.ts';
import type { PageArgs } from '../../access/paging/page.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import { byId, toOrgCondition } from '../../access/scope.ts';
import { createdFields, resource } from '../../base/resource.ts';

export const builderResource = resource(
  'Builder',
  'A person who builds with the gateway, identified by the tokens of an identity provider.',
  {
    ...createdFields,
    idpProvider: z.string().describe('The issuer (`iss`) of their tokens.'),
    idpRef: z.string().describe('The subject (`sub`) of their tokens.'),
    firstName: z
      .string()
      .nullable()
      .describe('Their given name. {Null} if their tokens have none.'),
    lastName: z
      .string()
      .nullable()
      .describe('Their family name. {Null} if their tokens have none.'),
    fullName: z.string().nullable().describe('Their full name. {Null} if their tokens have none.'),
    primaryEmail: z
      .string()
      .nullable()
      .describe(
        'Their verified email address, in lower case. {Null} unless their token has `email` and `email_verified: true`.',
      ),
  },
);

export const listBuilders = read(
  'org:read',
  "Lists an org's members, newest first by their first use of the gateway.",
  (call: Call, org: Row<'Org'>, args: PageArgs) => {
    return listPage(
      call,
      {
        name: 'Org.builders',
        parentId: org.id,
        table: 'OrgMember',
        where: { orgId: toOrgCondition(call.viewer, org) },
        key: 'builderId',
        nodes: (members) =>
          Promise.all(members.map(({ builderId }) => load(call, byId('Builder'), builderId))),
      },
      args,
    );
  },
);

/** Throws NOT_FOUND if the caller is not a builder. */
export const getCurrentBuilder = read(
  'bearer',
  'Returns the builder who sends the request.',
  async (call: Call): Promise<Row<'Builder'>> => {
    const { id } = call.viewer;
    const builder = await load(call, byId('Builder'), id);
    if (!builder) throw notFound('Builder', id);
    return builder;
  },
);
