/** The type Builder, which is a person. schema-builder.ts builds the schema. */
import { listBuilders } from '../../domain/org/builder.ts';
import { addMember, removeMember } from '../../domain/org/member.ts';
import { createdFields, listField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Builder, Builders, Org } from '../schema/types.ts';

Builder.implement({
  description:
    'A person who builds with the gateway, identified by the tokens of an identity provider.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    idpProvider: t.exposeString('idpProvider', {
      description: 'The issuer (`iss`) of their tokens.',
    }),
    idpRef: t.exposeString('idpRef', { description: 'The subject (`sub`) of their tokens.' }),
    firstName: t.exposeString('firstName', {
      nullable: true,
      description: 'Their given name; null if their tokens have none.',
    }),
    lastName: t.exposeString('lastName', {
      nullable: true,
      description: 'Their family name; null if their tokens have none.',
    }),
    fullName: t.exposeString('fullName', {
      nullable: true,
      description: 'Their whole name; null if their tokens have none.',
    }),
    primaryEmail: t.exposeString('primaryEmail', {
      nullable: true,
      description:
        'Their verified email address, in lower case. Null unless their token has `email` and `email_verified: true`.',
    }),
  }),
});

builder.objectField(Org, 'builders', (t) =>
  listField(t, Builders, {
    description:
      'The members of the org, in the order in which they first used the gateway, newest first.',
    list: listBuilders,
  }),
);

builder.mutationField('addMember', (t) =>
  mutationField(t, addMember, {
    type: payload('AddMemberPayload', 'org', Org, 'The org, with the builder as a member.'),
    description:
      'Adds a builder to an org of the caller who is a colleague in another org, or has an address of a domain that the org has proven; others are invited. A builder who names themselves joins, as by `joinOrg`.',
  }),
);

builder.mutationField('removeMember', (t) =>
  mutationField(t, removeMember, {
    type: DeletePayload,
    description:
      'Removes a member from an org of the caller; the last one stays. `deletedId` is the id of the builder, who keeps their other orgs.',
  }),
);
