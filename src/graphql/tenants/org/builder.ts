/** The type Builder, which is a person. Do not confuse it with the Pothos builder of schema-builder.ts. */
import { builderResource, listBuilders } from '../../../domain/tenants/org/builder.ts';
import { addList } from '../../schema/lists.ts';
import { objectType } from '../../schema/object-type.ts';
import { Builder, Org } from '../../schema/types.ts';

objectType(Builder, builderResource);

addList(Org, 'builders', Builder, listBuilders, {
  deprecationReason: 'Use `members`, which also returns the role of each builder.',
});
