/** Schemas of HubSpot's responses. They contain only members that the code reads. */
import { z } from 'zod';

/** An id, which HubSpot returns as a number or a string. */
export const idSchema = z.union([z.int(), z.string().min(1).max(64)]).transform(String);

/** A loose object, because the whole record is passed on. */
export const recordResponse = z.looseObject({
  id: z.string(),
  properties: z.record(z.string(), z.unknown()),
});
export type CrmRecord = z.infer<typeof recordResponse>;

const paging = z.object({ next: z.object({ after: z.string() }).nullish() }).nullish();

export const listResponse = z.object({ results: z.array(recordResponse), paging });
/** The response to a batch read. Missing records are omitted. */
export const recordsResponse = z.object({ results: z.array(recordResponse) });
export const searchResponse = listResponse.extend({ total: z.int() });

/** Members have defaults, so that an error response with an unusual body can still be classified. */
const errorDetail = z.object({
  message: z.string().catch(''),
  code: z.string().nullish().catch(null),
});
export const errorResponse = z
  .object({
    message: z.string().catch(''),
    errors: z.array(errorDetail).catch([]),
    /** The limit that was exceeded, for example `DAILY`. */
    policyName: z.string().nullish().catch(null),
  })
  .catch({ message: '', errors: [] });
export type ErrorResponse = z.infer<typeof errorResponse>;

const batchError = z.object({
  message: z.string().catch('HubSpot gave no reason'),
  // Tolerant: an error without a context must not make the outcomes of other records unknown.
  context: z
    .object({
      objectWriteTraceId: z.array(z.string()).optional(),
      ids: z.array(z.string()).optional(),
    })
    .nullish()
    .catch(null),
});
export type BatchError = z.infer<typeof batchError>;
export const batchResponse = z.object({
  results: z.array(recordResponse.extend({ objectWriteTraceId: z.string().nullish() })),
  errors: z.array(batchError).default([]),
});
export type BatchResponse = z.infer<typeof batchResponse>;

/** A loose object, because the whole property is passed on. */
export const propertyResponse = z.looseObject({
  name: z.string(),
  label: z.string().nullish(),
  description: z.string().nullish(),
  type: z.string(),
  fieldType: z.string(),
  options: z.array(z.looseObject({ value: z.string(), label: z.string() })).nullish(),
  hasUniqueValue: z.boolean().nullish(),
  hubspotDefined: z.boolean().nullish(),
  modificationMetadata: z.object({ readOnlyValue: z.boolean() }).nullish(),
  referencedObjectType: z.string().nullish(),
});
export type Property = z.infer<typeof propertyResponse>;
export const propertiesResponse = z.object({ results: z.array(propertyResponse) });

export const schemaResponse = z.object({
  labels: z.object({ plural: z.string().nullish() }).nullish(),
  requiredProperties: z.array(z.string()).default([]),
});

export const pipelinesResponse = z.object({
  results: z.array(z.object({ stages: z.array(z.object({ id: z.string(), label: z.string() })) })),
});
