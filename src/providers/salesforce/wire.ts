/** Schemas of Salesforce's responses. They contain only members that the code reads. */
import { z } from 'zod';

const refusal = z.object({
  message: z.string().catch(''),
  errorCode: z.string().catch(''),
});
export type SalesforceError = z.infer<typeof refusal>;
/** Other bodies, such as the error page of a proxy, count as a response without errors. */
export const errorResponse = z.array(refusal).catch([]);

/**
 * The only permitted path of the next page, because the path is stored and then requested with the org's credentials.
 */
export const nextRecordsPath = z.string().regex(/^\/services\/data\/v\d+\.\d+\/query\/[\w-]+$/);

const queryRow = z.looseObject({ Id: z.string() });
export type QueryRow = z.infer<typeof queryRow>;

export const queryResponse = z
  .object({
    totalSize: z.int(),
    records: z.array(queryRow),
  })
  .and(
    z.discriminatedUnion('done', [
      z.object({ done: z.literal(true) }),
      z.object({ done: z.literal(false), nextRecordsUrl: nextRecordsPath }),
    ]),
  );

export const createResponse = z.object({ id: z.string() });

/** The outcomes of a batch, one for each record, in order. */
export const collectionResponse = z.array(
  z.object({
    id: z.string().nullish(),
    success: z.boolean(),
    errors: z
      .array(z.object({ statusCode: z.string().catch(''), message: z.string().catch('') }))
      .default([]),
  }),
);

const flag = z.boolean().default(false);
const field = z.object({
  name: z.string(),
  label: z.string().nullish(),
  type: z.string(),
  custom: flag,
  autoNumber: flag,
  calculated: flag,
  createable: flag,
  updateable: flag,
  nillable: flag,
  defaultedOnCreate: flag,
  picklistValues: z
    .array(
      z.object({
        value: z.string(),
        label: z.string().nullish(),
        active: z.boolean().default(true),
      }),
    )
    .default([]),
  referenceTo: z.array(z.string()).default([]),
});
export type SalesforceField = z.infer<typeof field>;

export const describeResponse = z.object({
  name: z.string(),
  label: z.string().nullish(),
  fields: z.array(field),
});

/** Custom fields with their complete metadata. */
export const toolingResponse = z.object({
  records: z.array(z.object({ Id: z.string(), Metadata: z.looseObject({ type: z.string() }) })),
});

/** The response to a composite request with one inner request. */
export const compositeResult = z.object({
  compositeResponse: z.tuple([z.object({ body: z.unknown(), httpStatusCode: z.int() })]),
});
