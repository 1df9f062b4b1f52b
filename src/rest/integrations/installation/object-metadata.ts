import { z } from 'zod';
import { computed } from '../../../domain/base/resource.ts';
import {
  installedObjectMetadataInput,
  type ObjectMetadata,
  objectMetadataInput,
  objectMetadataResource,
  readInstalledObjectMetadata,
  readObjectMetadata,
} from '../../../domain/integrations/installation/object-metadata.ts';
import { fieldMetadataResource } from '../../../domain/integrations/installation/shown-field.ts';
import { integrationInPath } from '../../endpoint/request-form.ts';
import { readEndpoint } from '../../endpoint/resource-endpoints.ts';
import { extendResource } from '../../openapi/response-form.ts';

const tag = 'Object metadata';

/** Fields are members by name. */
const objectMetadata = extendResource(objectMetadataResource, {
  fields: computed(
    z.record(z.string(), fieldMetadataResource).describe('The fields of the object, by name.'),
    ({ fields }: ObjectMetadata) =>
      Object.fromEntries(fields.map((field) => [field.fieldName, field])),
  ),
});

export const objectMetadataEndpoints = [
  readEndpoint({
    id: 'getObjectMetadata',
    path: '/projects/{projectIdOrName}/providers/{provider}/objects/{objectName}/metadata',
    tag,
    input: objectMetadataInput,
    read: readObjectMetadata,
    resource: objectMetadata,
  }),
  readEndpoint({
    id: 'getInstalledObjectMetadata',
    path: '/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}/metadata',
    tag,
    description:
      "Accepts the provider's name of the object, and the name that the integration maps it to.",
    input: installedObjectMetadataInput,
    locations: integrationInPath,
    read: readInstalledObjectMetadata,
    resource: objectMetadata,
  }),
];
