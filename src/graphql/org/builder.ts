/** The platform's Builder, a person; builder.ts is what builds the schema. */
import { listBuilders } from '../../domain/org/builder.ts';
import { createdFields, listField } from '../schema/fields.ts';
import { Node } from '../schema/node-field.ts';
import { builder } from '../schema/schema-builder.ts';
import { Builder, Builders, Org } from '../schema/types.ts';

Builder.implement({
  description: 'A person who makes software, known by the tokens of an identity provider.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    idpProvider: t.exposeString('idpProvider', { description: 'The issuer of their tokens.' }),
    idpRef: t.exposeString('idpRef', { description: 'The subject of their tokens.' }),
    firstName: t.exposeString('firstName', {
      nullable: true,
      description: 'Their given name, where tokens say it.',
    }),
    lastName: t.exposeString('lastName', {
      nullable: true,
      description: 'Their family name, where tokens say it.',
    }),
    fullName: t.exposeString('fullName', {
      nullable: true,
      description: 'Their whole name, where tokens say it.',
    }),
    primaryEmail: t.exposeString('primaryEmail', {
      nullable: true,
      description: 'Their e-mail address, lowercase, where tokens say it and not as unverified.',
    }),
  }),
});

builder.objectField(Org, 'builders', (t) =>
  listField(t, Builders, {
    description: 'Its members, by the time that they became builders, newest first.',
    list: listBuilders,
  }),
);
