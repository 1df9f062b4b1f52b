/** The type Builder, which is a person. schema-builder.ts builds the schema. */
import { builderResource, listBuilders } from '../../domain/org/builder.ts';
import { addMember, removeMember } from '../../domain/org/member.ts';
import { listField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { objectType } from '../schema/object-type.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Builder, Builders, Org } from '../schema/types.ts';

objectType(Builder, builderResource);

builder.objectField(Org, 'builders', (t) =>
  listField(t, Builders, {
    list: listBuilders,
  }),
);

builder.mutationField('addMember', (t) =>
  mutationField(t, addMember, payload('addMember', 'org', Org)),
);

builder.mutationField('removeMember', (t) => mutationField(t, removeMember, DeletePayload));
