/** Validates the rows of src/providers/catalog/entries.json. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { PROXY_ENTRIES } from '../../../src/providers/catalog/all-entries.ts';
import { AUTH_SCHEMES } from '../../../src/providers/contract.ts';

const text = z
  .string()
  .min(1)
  .max(300)
  .regex(/^\S(.*\S)?$/);
const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]*$/);
/** A URL whose variables may replace labels of the host, the whole host, or segments of the path. */
const url = z
  .string()
  .regex(/^(https:\/\/|\{\{workspace\}\}$|\{\{workspace\}\}\/)[^\s?#@]*(?<!\/)$/)
  .refine((template) =>
    URL.canParse(
      template
        .replace(/^\{\{workspace\}\}/, 'https://acme.example')
        .replaceAll(/\{\{\w+\}\}/g, 'a'),
    ),
  );
const pointer = z.string().regex(/^(\/\w+)+$/);
const flag = z.literal(true).optional();
const texts = z.record(z.string().regex(/^[\w-]+$/), text);
const inputs = z.array(z.strictObject({ name, displayName: text, optional: flag })).min(1);
const hosts = z.array(z.string().regex(/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$/)).min(1);
const templates = z.array(z.strictObject({ name: text, valueTemplate: text })).min(1);

const tokenErrors = z
  .array(z.strictObject({ code: text, kind: z.enum(['AUTH_INVALIDATED', 'RATE_LIMITED']) }))
  .min(1);

const oauth2 = z.strictObject({
  authorizeUrl: url.optional(),
  tokenUrl: url,
  refreshUrl: url.optional(),
  adminConsent: z
    .strictObject({ url, tokenUrl: url, scope: text, workspaceClaim: name })
    .optional(),
  authorizeParams: texts.optional(),
  reauthorizeParams: texts.optional(),
  explicitScopesRequired: flag,
  usesJson: flag,
  revocation: z.strictObject({ method: z.enum(['POST', 'DELETE']), url }).optional(),
  clientAuthentication: z.enum(['body', 'basic']).optional(),
  tokenFields: z
    .strictObject({
      workspaceRef: text.optional(),
      consumerRef: text.optional(),
      scopes: text.optional(),
    })
    .optional(),
  scopeSeparator: z.string().min(1).optional(),
  tokenErrors: tokenErrors.optional(),
});

const assertion = z
  .strictObject({
    key: name,
    keyFormat: z.enum(['pem', 'keyFile']),
    algorithms: z.array(z.enum(['PS256', 'ES256', 'ES384', 'ES512'])).optional(),
    issuer: text.optional(),
    subject: text.optional(),
    keyId: text.optional(),
    audience: url.optional(),
    otherAudience: z.strictObject({ workspacePart: text, audience: url }).optional(),
    scopes: name.optional(),
    fixedScopes: z.array(text).optional(),
    lifetimeSeconds: z.int().positive().max(3_600).optional(),
    namesSnowflakeUser: flag,
  })
  .refine(({ scopes, fixedScopes }) => scopes === undefined || fixedScopes === undefined)
  .refine(({ issuer, keyFormat }) => (issuer === undefined) === (keyFormat === 'keyFile'));
const endpoint = {
  tokenUrl: url,
  defaultLifetimeSeconds: z.int().positive().optional(),
  tokenErrors: tokenErrors.optional(),
};
const grant = z.discriminatedUnion('type', [
  z.strictObject({ type: z.enum(['JWT_BEARER', 'CLIENT_ASSERTION']), assertion, ...endpoint }),
  z.strictObject({ type: z.literal('SIGNED_TOKEN'), assertion }),
  z.strictObject({
    type: z.literal('LOGIN'),
    ...endpoint,
    login: z.strictObject({
      basic: text,
      keyField: text,
      credentials: text,
      attachment: z.strictObject({ in: z.literal('header'), name: text, valuePrefix: z.string() }),
    }),
  }),
]);

const entry = z.strictObject({
  name,
  displayName: text,
  baseUrl: url,
  modules: z
    .array(
      z.strictObject({
        name,
        aliases: z.array(name).optional(),
        displayName: text,
        baseUrl: url,
        inputs: inputs.optional(),
      }),
    )
    .min(1)
    .optional(),
  hosts: z.record(name, hosts).optional(),
  hasCustomerHost: flag,
  linkHosts: hosts.optional(),
  headers: texts.optional(),
  inputs: inputs.optional(),
  workspaceRequired: flag,
  workspaceDisplayName: text.optional(),
  authSchemes: z.array(z.enum(AUTH_SCHEMES)).min(1).max(2),
  oauth2: oauth2.optional(),
  usesMicrosoftTokens: flag,
  apiKey: z
    .union([
      z.strictObject({
        in: z.literal('header'),
        name: text,
        valuePrefix: z
          .string()
          .regex(/^\S+[ =]$|^\S+ \S+=$/)
          .optional(),
      }),
      z.strictObject({ in: z.literal('query'), name: text }),
    ])
    .optional(),
  custom: z
    .strictObject({
      inputs,
      headers: templates.optional(),
      queryParams: templates.optional(),
      grant: grant.optional(),
    })
    .optional(),
  signature: z.literal('AWS4').optional(),
  healthCheck: z
    .union([
      z.string().regex(/^\/\S+$/),
      z.strictObject({
        method: z.literal('POST'),
        path: z.literal(''),
        headers: texts,
        body: z.strictObject({}),
      }),
    ])
    .optional(),
  identity: z
    .strictObject({
      path: z.string().regex(/^\/\S+$/),
      workspaceRef: pointer,
      consumerRef: pointer.optional(),
    })
    .optional(),
  checkedAgainst: text,
  notes: z.array(text.regex(/\.$/)).min(1).optional(),
});

test('each row has only known members, valid URLs and a source', () => {
  const problems = PROXY_ENTRIES.flatMap((row) => {
    const { error } = entry.safeParse(row);
    return error ? [`${row.name}: ${z.prettifyError(error)}`] : [];
  });
  expect(problems).toEqual([]);
});

test('the rows are in the order of their names, which are unique regardless of case', () => {
  const names = PROXY_ENTRIES.map((row) => row.name.toLowerCase());
  expect(names).toEqual([...new Set(names)].toSorted());
});

test('each variable of an address is the workspace or an input of the row', () => {
  const unknown = PROXY_ENTRIES.flatMap(
    ({ name, baseUrl, modules = [], oauth2, headers, inputs, custom }) => {
      const known = new Set(['workspace', ...(inputs ?? []).map((input) => input.name)]);
      const tokenUrl = custom?.grant && 'tokenUrl' in custom.grant ? custom.grant.tokenUrl : '';
      const templates = [
        ...[baseUrl, oauth2?.authorizeUrl, oauth2?.tokenUrl, ...Object.values(headers ?? {})],
        ...modules.map((module) => module.baseUrl),
        tokenUrl,
      ];
      const variables = [...templates.join(' ').matchAll(/\{\{(\w+)\}\}/g)].map(
        ([, found]) => found,
      );
      return variables
        .filter((variable) => !known.has(variable ?? ''))
        .map((found) => `${name}: ${found}`);
    },
  );
  expect(unknown).toEqual([]);
});

test('only the listed providers let the customer enter the whole host', () => {
  const names = PROXY_ENTRIES.filter(({ hasCustomerHost }) => hasCustomerHost).map(
    (row) => row.name,
  );
  expect(names).toEqual([
    ...['coupa', 'discourse', 'emailBison', 'kaseyaVSAX', 'loxo', 'odoo', 'sugarCRM', 'vtiger'],
  ]);
});
