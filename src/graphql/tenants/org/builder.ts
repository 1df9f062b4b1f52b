/** The type Builder, which is a person. Do not confuse it with the Pothos builder of schema-builder.ts. */
import { builderResource } from '../../../domain/tenants/org/builder.ts';
import { objectType } from '../../schema/object-type.ts';
import { Builder } from '../../schema/types.ts';

objectType(Builder, builderResource);
