/** The inputs of the mutations of provider apps. */
import { z } from 'zod';
import type { Issue } from '../../../kernel/errors.ts';
import { id } from '../../../kernel/ids.ts';
import { findValueAt, member, text } from '../../../kernel/text.ts';
import type { RowCall, RowServices } from '../../access/call.ts';
import { type InProject, NOT_A_PROVIDER } from '../../access/catalog.ts';
import { boundedJsonObject } from '../../base/input-schemas.ts';
import { createInputIssue, createRuleIssue, requireNoIssues } from '../../base/issues.ts';
import { projectIdOrName } from '../../base/names.ts';
import { enumeration } from '../../base/resource.ts';
import { oauthScopes, requiredText } from '../connection/credential-input.ts';

const LENGTH_MAX = 1_024;
const shortText = z.string().min(1).max(LENGTH_MAX);

const packageUrl = z.url({ protocol: /^https$/, error: 'must be an https URL.' }).max(2_048);

const metadata = boundedJsonObject
  .pipe(
    z.strictObject({
      authQueryParams: z.record(z.string(), z.union([z.string(), z.array(z.string())])).optional(),
      providerParams: z
        .strictObject({
          packageInstallURL: packageUrl.optional(),
          workspaceHost: z
            .hostname('must be a host, like acme.example.com.')
            .max(253)
            .toLowerCase()
            .optional(),
          gcpProjectId: shortText.optional(),
          gcpPubSubTopicName: shortText.optional(),
        })
        .optional(),
    }),
  )
  .describe(
    "`authQueryParams`: query parameters to add to the authorize URL, each a string or a list of strings. `providerParams`: `packageInstallURL`, the https URL where people install the app's package at the provider, which the connect page shows; `workspaceHost`, the only host that receives the client secret, for providers whose customers enter the host (coupa, sugarCRM); `gcpProjectId` and `gcpPubSubTopicName`, stored for Google's push messages, to which the gateway does not subscribe.",
  );

/** The rules of the fields. Null clears a field that may be empty. */
const fields = z.object({
  externalRef: shortText
    .nullable()
    .describe("The provider's own id for the app. Null if it has none."),
  clientId: requiredText.describe('The OAuth client id that the provider issued.'),
  clientSecret: requiredText.describe(
    'The OAuth client secret that the provider issued. No response contains it.',
  ),
  webhookSecret: requiredText
    .nullable()
    .describe(
      'The secret with which the provider signs its requests. No response contains it. If null, the provider signs with the client secret.',
    ),
  provider: shortText.describe('The name of a provider in the catalog.'),
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

const FIELDS_BY_MASK = {
  EXTERNAL_REF: 'externalRef',
  CLIENT_ID: 'clientId',
  CLIENT_SECRET: 'clientSecret',
  WEBHOOK_SECRET: 'webhookSecret',
  PROVIDER: 'provider',
  SCOPES: 'scopes',
  METADATA: 'metadata',
} as const satisfies Record<string, keyof AppChanges>;

/** Accepts any value. `updateProviderAppInput` checks the rules of the fields in the mask. */
const uncheckedFields = z
  .object({
    externalRef: z
      .string()
      .nullish()
      .describe("The provider's own id for the app. Null clears it."),
    clientId: z.string().nullish().describe('The OAuth client id that the provider issued.'),
    clientSecret: z
      .string()
      .nullish()
      .describe('The OAuth client secret that the provider issued. No response contains it.'),
    webhookSecret: z
      .string()
      .nullish()
      .describe(
        'The secret with which the provider signs its requests. Null if it signs with the client secret. The previous secret is accepted for another day.',
      ),
    provider: z.string().nullish().describe('The name of a provider in the catalog.'),
    scopes: z
      .array(z.string())
      .nullish()
      .describe('The OAuth scopes to request when a customer connects. Null clears them.'),
    metadata: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe('`authQueryParams` and `providerParams`. Null clears them.'),
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
    PROVIDER: 'The provider: `provider`. It can change only while no connection uses the app.',
    SCOPES: 'The OAuth scopes to request: `scopes`.',
    METADATA: 'Further parameters: `metadata`.',
  } satisfies Record<keyof typeof FIELDS_BY_MASK, string>,
);

const MISSING_VALUE = text`is required, because ${member('updateMask')} names it.`;

export const updateProviderAppInput = z
  .object({
    projectIdOrName,
    providerAppId: id.describe('The id of the provider app.'),
    updateMask: z
      .array(providerAppField)
      .min(1, 'must name at least one field.')
      .describe('The fields to change, at least one.'),
    providerApp: uncheckedFields,
  })
  .superRefine((input, context) => {
    const { error } = selectMaskedFields(input).safeParse(input.providerApp);
    for (const issue of error?.issues ?? []) {
      const path = ['providerApp', ...issue.path];
      const isMissing = findValueAt(input, path) === undefined;
      context.addIssue(
        isMissing
          ? { code: 'custom', ...createRuleIssue(path, MISSING_VALUE) }
          : { ...issue, path },
      );
    }
  })
  .meta({
    id: 'UpdateProviderAppInput',
    description:
      'The new values of a provider app. Only the fields that updateMask names are changed, and each of them is required.',
  });

interface MaskedInput {
  updateMask: readonly (keyof typeof FIELDS_BY_MASK)[];
  providerApp: unknown;
}

function selectMaskedFields({ updateMask }: Pick<MaskedInput, 'updateMask'>) {
  const maskedNames = Object.fromEntries(updateMask.map((mask) => [FIELDS_BY_MASK[mask], true]));
  return fields.pick(maskedNames as Record<keyof AppChanges, true>);
}

/** Returns the new values of the fields in the mask. Throws BAD_USER_INPUT for a provider that does not exist. */
export function parseChanges(call: InProject<RowCall>, input: MaskedInput): AppChanges {
  const changes: AppChanges = selectMaskedFields(input).parse(input.providerApp);
  const { provider } = changes;
  if (provider !== undefined) {
    requireNoIssues(listProviderIssues(call, provider, ['providerApp', 'provider']));
  }
  return changes;
}

/** Lists the issue for a provider that does not exist, at this path of the input. */
export function* listProviderIssues(
  { catalog }: InProject<RowServices>,
  provider: string,
  path: readonly PropertyKey[],
): Generator<Issue> {
  if (!catalog.find(provider)) yield createInputIssue(path, NOT_A_PROVIDER, provider);
}
