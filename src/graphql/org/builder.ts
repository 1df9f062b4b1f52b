/** The type Builder, which is a person. schema-builder.ts builds the schema. */
import { builderResource, listBuilders } from '../../domain/org/builder.ts';
import { addMember, removeMember } from '../../domain/org/member.ts';
import { listField } from '../schema/fields.ts';
import { addDeletions, addMutations } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { builder } from '../schema/schema-builder.ts';
import { Builder, Builders, Org } from '../schema/types.ts';

objectType(Builder, builderResource);

builder.objectField(Org, 'builders', (t) =>
  listField(t, Builders, {
    list: listBuilders,
  }),
);

addMutations('org', Org, { addMember });
addDeletions({ removeMember });
