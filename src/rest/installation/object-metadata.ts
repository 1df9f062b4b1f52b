import { z } from 'zod';
import {
  installedObjectMetadataInput,
  type ObjectMetadata,
  objectMetadataInput,
  objectMetadataResource,
  readInstalledObjectMetadata,
  readObjectMetadata,
} from '../../domain/installation/object-metadata.ts';
import { fieldMetadataResource } from '../../domain/installation/shown-field.ts';
import type { RestRequest } from '../endpoint/endpoint.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { responseOf, showResource } from '../openapi/shown-resource.ts';

const tag = 'Object metadata';

/** Fields are members by name. */
const objectMetadata = responseOf(objectMetadataResource, (shape) => ({
  ...shape,
  fields: z
    .record(z.string(), responseOf(fieldMetadataResource))
    .describe('The fields of the object, by name.'),
}));

function showObjectMetadata(metadata: ObjectMetadata, request: RestRequest) {
  const fields = metadata.fields.map((field) => [
    field.fieldName,
    showResource(fieldMetadataResource, field, request),
  ]);
  return {
    ...showResource(objectMetadataResource, metadata, request),
    fields: Object.fromEntries(fields),
  };
}

export const objectMetadataEndpoints = [
  readEndpoint({
    id: 'getObjectMetadata',
    path: '/projects/{projectIdOrName}/providers/{provider}/objects/{objectName}/metadata',
    tag,
    input: objectMetadataInput,
    read: readObjectMetadata,
    output: objectMetadata,
    show: showObjectMetadata,
  }),
  readEndpoint({
    id: 'getInstalledObjectMetadata',
    path: '/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}/metadata',
    tag,
    description:
      "Name the object by the provider's name, or by the one that the integration maps it to.",
    input: installedObjectMetadataInput,
    places: { integrationIdOrName: { in: 'path', name: 'integrationId' } },
    read: readInstalledObjectMetadata,
    output: objectMetadata,
    show: showObjectMetadata,
  }),
];
