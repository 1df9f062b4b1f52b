/** Validates the rows of src/providers/catalog/entries.json. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { PROXY_ENTRIES } from '../../../src/providers/catalog/all-entries.ts';
import {
  accountInput,
  catalogEntry,
  inputList,
  memberName,
  oauth2,
  text,
  textMap,
  urlTemplate,
} from '../../../src/providers/catalog/entry-schema.ts';

const flag = z.literal(true).optional();

const appInputs = z
  .array(accountInput.extend({ modules: z.array(memberName).min(1).optional() }))
  .min(1)
  .optional();

const pointer = z.string().regex(/^(\/\w+)+$/);

/** Members that only built-in providers have. */
const entry = catalogEntry.extend({
  name: memberName,
  oauth2: oauth2
    .extend({
      adminConsent: z
        .strictObject({
          url: urlTemplate,
          tokenUrl: urlTemplate,
          scope: text,
          workspaceClaim: memberName,
        })
        .optional(),
    })
    .optional(),
  signature: z.literal('AWS4').optional(),
  identity: z
    .strictObject({
      path: z.string().regex(/^\/\S+$/),
      workspaceRef: pointer,
      consumerRef: pointer.optional(),
    })
    .optional(),
  hasCustomerHost: flag,
  headers: textMap.optional(),
  inputs: inputList.optional(),
  appInputs: z.strictObject({ authQueryParams: appInputs, providerParams: appInputs }).optional(),
  usesMicrosoftTokens: flag,
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

test('clients of the listed providers authenticate with HTTP Basic', () => {
  const names = PROXY_ENTRIES.filter(({ oauth2 }) => oauth2?.clientAuthentication === 'basic').map(
    (row) => row.name,
  );
  expect(names).toEqual([
    ...['aWeber', 'blackbaud', 'constantContact', 'deel', 'deelSandbox', 'docusign'],
    ...['docusignDeveloper', 'domo', 'figma', 'getResponse', 'gong', 'gorgias'],
    ...['goTo', 'greenhouse', 'netsuite', 'payPal', 'payPalSandBox', 'pinterest'],
    ...['quickbooks', 'quickbooksSandbox', 'ramp', 'rampDemo', 'redditAds', 'ringCentral'],
    ...['talkdesk', 'workday'],
  ]);
});
