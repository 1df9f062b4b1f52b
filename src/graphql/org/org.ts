import { billingAccountOfOrg } from '../../domain/org/billing-account.ts';
import { createOrg, deleteOrg, findOrg, listOrgs, updateOrg } from '../../domain/org/org.ts';
import { createdFields, rootListField, updateTimeField } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { needing } from '../schema/needing.ts';
import { Node } from '../schema/node-field.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder, type Types } from '../schema/schema-builder.ts';
import { BillingAccount, Org, Orgs } from '../schema/types.ts';

BillingAccount.implement({
  description: 'The account that pays for an org.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    displayName: t.exposeString('displayName', { description: 'The name that people see.' }),
    billingProvider: t.exposeString('billingProvider', {
      description: 'The service that takes the payments; `none` until one is connected.',
    }),
    billingProviderRef: t.exposeString('billingProviderRef', {
      description: 'The id of the account at that service.',
    }),
    updateTime: updateTimeField(t),
  }),
});

const ParentType = enumType('ParentType', 'The type that a parentId is an id of.', {
  ORG: 'An org.',
});

/** `parentType` and `parentId` name the org that owns an object, as in the reference API. */
export function parentFields<P extends { orgId: string }>(
  t: PothosSchemaTypes.FieldBuilder<Types, P, 'Object'>,
) {
  return {
    parentType: t.field({
      type: ParentType,
      description: 'The type that parentId is an id of.',
      resolve: () => 'ORG' as const,
    }),
    parentId: t.id({
      description: 'The id of the org that it belongs to.',
      resolve: ({ orgId }) => orgId,
    }),
  };
}

Org.implement({
  description: 'A company of builders. It owns projects and has one billing account.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    label: t.exposeString('label', { description: 'The name that people see.' }),
    billingAccount: t.field({
      type: BillingAccount,
      nullable: true,
      description: 'The account that pays for the org.',
      resolve: ({ id }, _args, { find }) => find(billingAccountOfOrg, id),
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.queryFields((t) => ({
  org: t.field({
    ...needing(
      findOrg,
      'An org by its id; null if it does not exist or the caller may not see it.',
    ),
    type: Org,
    nullable: true,
    args: { id: t.arg.id({ required: true, description: 'The id of the org.' }) },
    resolve: (_root, key, { call }) => findOrg(call, key),
  }),
  orgs: rootListField(t, Orgs, {
    description: "A builder's orgs, or the org of an API key's project, newest first.",
    list: listOrgs,
  }),
}));

builder.mutationFields((t) => ({
  createOrg: mutationField(t, createOrg, {
    type: payload('CreateOrgPayload', 'org', Org, 'The org, with the caller as its first member.'),
    description: 'Creates an org with a billing account. The caller is its first member.',
  }),
  updateOrg: mutationField(t, updateOrg, {
    type: payload('UpdateOrgPayload', 'org', Org, 'The org with its new name.'),
    description: 'Renames an org of the caller.',
  }),
  deleteOrg: mutationField(t, deleteOrg, {
    type: DeletePayload,
    description:
      'Deletes an org of the caller that has no projects, with its members, invites, claimed domains and billing account.',
  }),
}));
