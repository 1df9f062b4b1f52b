/** Input of the mutations of provider apps. */
import { z } from 'zod';
import type { Issue } from '../../errors.ts';
import { id } from '../../ids.ts';
import type { Call } from '../call.ts';
import { oauthScopes, secretText } from '../connection/credential-input.ts';
import { issueAt, refuseIssues } from '../issues.ts';
import { jsonObject } from '../json-object.ts';
import { projectIdOrName } from '../names.ts';
import { enumeration } from '../resource.ts';
import { NOT_A_PROVIDER } from './catalogue.ts';

const TEXT_MAX = 1_024;
const text = z.string().min(1).max(TEXT_MAX);

const packageUrl = z.url({ protocol: /^https$/, error: 'must be an https URL.' }).max(2_048);

const metadata = jsonObject
  .pipe(
    z.strictObject({
      authQueryParams: z.record(z.string(), z.union([z.string(), z.array(z.string())])).optional(),
      providerParams: z
        .strictObject({
          packageInstallURL: packageUrl.optional(),
          gcpProjectId: text.optional(),
          gcpPubSubTopicName: text.optional(),
        })
        .optional(),
    }),
  )
  .describe(
    "`authQueryParams`: query parameters to add to the authorize URL, a text or a list of texts by name. `providerParams`: `packageInstallURL`, the https address where people install the app's package at the provider, which they are shown when they connect; `gcpProjectId` and `gcpPubSubTopicName`, kept for Google's push messages, which the gateway does not subscribe to.",
  );

/** The rules of the fields. Null clears a field that may be empty. */
const fields = z.object({
  externalRef: text.nullable().describe("The provider's own id of the app. Null: none."),
  clientId: secretText.describe('The OAuth client id that the provider gave.'),
  clientSecret: secretText.describe(
    'The OAuth client secret that the provider gave. No answer shows it.',
  ),
  webhookSecret: secretText
    .nullable()
    .describe(
      'The secret that signs what the provider sends, if it is not the client secret. No answer shows it. Null: the client secret.',
    ),
  provider: text.describe('The name of a provider of the catalogue.'),
  scopes: oauthScopes.nullable().describe('The OAuth scopes to request when a customer connects.'),
  metadata: metadata.nullable(),
});
export type AppChanges = Partial<z.output<typeof fields>>;

export const createProviderAppInput = z
  .object({
    projectIdOrName,
    provider: fields.shape.provider,
    clientId: fields.shape.clientId,
    clientSecret: fields.shape.clientSecret,
    webhookSecret: fields.shape.webhookSecret.optional(),
    externalRef: fields.shape.externalRef.optional(),
    scopes: fields.shape.scopes.optional(),
    metadata: fields.shape.metadata.optional(),
  })
  .meta({ id: 'CreateProviderAppInput', description: 'The provider app to create.' });

const MASKS = {
  EXTERNAL_REF: 'externalRef',
  CLIENT_ID: 'clientId',
  CLIENT_SECRET: 'clientSecret',
  WEBHOOK_SECRET: 'webhookSecret',
  PROVIDER: 'provider',
  SCOPES: 'scopes',
  METADATA: 'metadata',
} as const satisfies Record<string, keyof AppChanges>;

/** Accepts any value. The input checks the rules of the fields in the mask. */
const unchecked = z
  .object({
    externalRef: z.string().nullish().describe("The provider's own id of the app; null clears it."),
    clientId: z.string().nullish().describe('The OAuth client id that the provider gave.'),
    clientSecret: z
      .string()
      .nullish()
      .describe('The OAuth client secret that the provider gave. No answer shows it.'),
    webhookSecret: z
      .string()
      .nullish()
      .describe(
        'The secret that signs what the provider sends, if it is not the client secret; null: the client secret. The previous one is accepted for another day.',
      ),
    provider: z.string().nullish().describe('The name of a provider of the catalogue.'),
    scopes: z
      .array(z.string())
      .nullish()
      .describe('The OAuth scopes to request when a customer connects; null clears them.'),
    metadata: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe('`authQueryParams` and `providerParams`; null clears them.'),
  })
  .meta({
    id: 'ProviderAppChanges',
    description: 'The new values of the fields that updateMask names.',
  });

const providerAppField = enumeration(
  'ProviderAppField',
  'A field of a provider app, for updateMask.',
  {
    EXTERNAL_REF: 'The id at the provider: `externalRef`.',
    CLIENT_ID: 'The OAuth client id: `clientId`.',
    CLIENT_SECRET: 'The OAuth client secret: `clientSecret`.',
    WEBHOOK_SECRET: 'The secret that signs events: `webhookSecret`.',
    PROVIDER: 'The provider: `provider`. Only while no connection uses the app.',
    SCOPES: 'The OAuth scopes to request: `scopes`.',
    METADATA: 'Further parameters: `metadata`.',
  } satisfies Record<keyof typeof MASKS, string>,
);

export const updateProviderAppInput = z
  .object({
    projectIdOrName,
    providerAppId: id.describe('The id of the provider app.'),
    updateMask: z
      .array(providerAppField)
      .min(1, 'must name a field.')
      .describe('The fields to change, at least one.'),
    providerApp: unchecked,
  })
  .superRefine((input, context) => {
    const { error } = maskedFields(input).safeParse(input.providerApp, {
      error: ({ input: value }) => (value === undefined ? MISSING : undefined),
    });
    for (const issue of error?.issues ?? []) {
      context.addIssue({ ...issue, path: ['providerApp', ...issue.path] });
    }
  })
  .meta({
    id: 'UpdateProviderAppInput',
    description:
      'The new values of a provider app. Only the fields that updateMask names are changed, and each of them must be given.',
  });

const MISSING = 'is named in updateMask and must be given.';

interface Masked {
  updateMask: readonly (keyof typeof MASKS)[];
  providerApp: unknown;
}

function maskedFields({ updateMask }: Pick<Masked, 'updateMask'>) {
  const masked = Object.fromEntries(updateMask.map((mask) => [MASKS[mask], true]));
  return fields.pick(masked as Record<keyof AppChanges, true>);
}

/** Returns the new values of the fields in the mask. Throws BAD_USER_INPUT for a provider that does not exist. */
export function changesOf(call: Call, input: Masked): AppChanges {
  const changes: AppChanges = maskedFields(input).parse(input.providerApp);
  const { provider } = changes;
  if (provider !== undefined) {
    refuseIssues(providerIssues(call, provider, ['input', 'providerApp', 'provider']));
  }
  return changes;
}

/** The issue for a provider that does not exist, at this path of the input. */
export function* providerIssues(
  { catalogue }: Call,
  provider: string,
  path: readonly PropertyKey[],
): Generator<Issue> {
  if (!catalogue.find(provider)) yield issueAt(path, NOT_A_PROVIDER, provider);
}
