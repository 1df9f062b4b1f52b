import { billingAccountOfOrg } from '../../domain/org/billing-account.ts';
import { createOrg, findOrg, listOrgs } from '../../domain/org/org.ts';
import { createdFields, rootListField, updateTimeField } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { needing } from '../schema/needing.ts';
import { Node } from '../schema/node-field.ts';
import { answer } from '../schema/payloads.ts';
import type { Types } from '../schema/schema-builder.ts';
import { builder } from '../schema/schema-builder.ts';
import { BillingAccount, Org, Orgs } from '../schema/types.ts';

const ParentType = enumType('ParentType', 'What a parentId is the id of.', { ORG: 'An org.' });

/** `parentType` and `parentId`, as the platform says what belongs to an org. */
export function parentFields<P extends { orgId: string }>(
  t: PothosSchemaTypes.FieldBuilder<Types, P, 'Object'>,
) {
  return {
    parentType: t.field({
      type: ParentType,
      description: 'What it belongs to.',
      resolve: () => 'ORG' as const,
    }),
    parentId: t.id({
      description: 'The id of what it belongs to.',
      resolve: ({ orgId }) => orgId,
    }),
  };
}

Org.implement({
  description: 'A company of builders. It owns projects and has one billing account.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    label: t.exposeString('label', { description: 'What people call it.' }),
    billingAccount: t.field({
      type: BillingAccount,
      nullable: true,
      description: 'Who pays for it.',
      resolve: ({ id }, _args, { find }) => find(billingAccountOfOrg, id),
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.queryFields((t) => ({
  org: t.field({
    ...needing(findOrg, 'An org by id. Null where it does not exist for the caller.'),
    type: Org,
    nullable: true,
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (_root, key, { call }) => findOrg(call, key),
  }),
  orgs: rootListField(t, Orgs, {
    description: "A builder's orgs, or the org of an API key's project, newest first.",
    list: listOrgs,
  }),
}));

builder.mutationField('createOrg', (t) =>
  mutationField(t, createOrg, {
    type: answer('CreateOrgPayload', 'org', Org, 'The new org.'),
    description: 'Makes an org with a billing account; the caller is its first member.',
  }),
);
