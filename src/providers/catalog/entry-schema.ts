/** The schema of the catalog's part of a provider: its addresses, and how connections authenticate. */
import { z } from 'zod';
import { AUTH_SCHEMES } from '../contract.ts';
import {
  headerName,
  headerTemplates,
  jsonObject,
} from '../declarative/declaration/request-location.ts';

export const text = z
  .string()
  .min(1)
  .max(300)
  .regex(
    /^[^\s\p{Cc}]([^\p{Cc}]*[^\s\p{Cc}])?$/u,
    'must be one line of text without spaces around it',
  );
export const memberName = z
  .string()
  .max(64)
  .regex(
    /^[A-Za-z][A-Za-z0-9_-]*$/,
    'must be letters, digits, `_` and `-`, and start with a letter',
  );
/** Plain HTTP is for a server on the machine itself, such as a test server. */
const URL_START =
  /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1)(:\d{1,5})?(\/|$)|\{\{\w+\}\}(\/|$))/;
export const urlTemplate = z
  .string()
  .max(1_000)
  .regex(URL_START, 'must start with https://')
  .regex(
    /^[^\s?#@\\]*[^\s?#@\\/]$/,
    'must have no query, fragment, credentials or slash at the end',
  )
  .refine(canBeUrl, 'must be a URL, whose variables are `{{name}}`')
  .describe(
    'A URL whose variables may replace labels of the host, the whole host, or segments of the path.',
  );

function canBeUrl(template: string): boolean {
  const example = template
    .replace(/^\{\{\w+\}\}/, 'https://acme.example')
    .replaceAll(/\{\{\w+\}\}/g, 'a');
  return !/[{}]/.test(example) && URL.canParse(example);
}

const flag = z.literal(true).optional();
export const textMap = z.record(z.string().regex(/^[\w-]{1,100}$/), text);
const docsUrl = z.url({ protocol: /^https$/ }).max(2_000);
/** Help for an input of the connect page. */
export const inputHelp = z.strictObject({
  prompt: text
    .max(500)
    .optional()
    .describe('Says where the customer finds the value. Backticks enclose code.'),
  docsUrl: docsUrl.optional().describe("The vendor's page about the value, by https."),
  defaultValue: text.optional().describe('The value that the connect page suggests.'),
});
export const accountInput = inputHelp.extend({
  name: memberName,
  displayName: text.describe('The label of the input on the connect page.'),
  optional: flag.describe('True if connecting does not require the input.'),
});
const credentialInput = accountInput.extend({
  visible: flag.describe('True if forms show the value. Default: they mask it.'),
});
const createInputList = <T extends z.ZodType>(input: T) => z.array(input).min(1).max(20);
export const inputList = createInputList(accountInput);
const hostList = z
  .array(
    z
      .string()
      .max(253)
      .regex(/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'must be a host name'),
  )
  .min(1)
  .max(100);

const attachment = z
  .discriminatedUnion('in', [
    z.strictObject({
      in: z.literal('header'),
      name: headerName,
      valuePrefix: z
        .string()
        .max(100)
        .regex(/^[\x20-\x7e]+$/)
        .optional()
        .describe('The string before the secret, such as `Bearer ` with its space.'),
    }),
    z.strictObject({ in: z.literal('query'), name: text }),
  ])
  .describe('Where requests carry a secret.');

const tokenErrorRule = z.strictObject({
  code: text.describe('The `error` of the response in lower case.'),
  status: z.int().min(100).max(599).optional().describe('The HTTP status. Default: any.'),
  description: text.optional().describe('The `error_description` in lower case. Default: any.'),
  kind: z
    .enum(['AUTH_INVALIDATED', 'RATE_LIMITED'])
    .describe(
      '`AUTH_INVALIDATED` if the customer must connect again, `RATE_LIMITED` if a retry may succeed.',
    ),
});

export const oauth2 = z.strictObject({
  authorizeUrl: urlTemplate
    .optional()
    .describe(
      'The page at which customers consent. Required for the schemes with an authorization code.',
    ),
  tokenUrl: urlTemplate,
  refreshUrl: urlTemplate.optional().describe('Default: the token URL.'),
  usesJson: flag.describe('True if the token URL accepts only JSON.'),
  sharedLogin: z
    .strictObject({ authorizeUrl: urlTemplate, tokenUrl: urlTemplate })
    .optional()
    .describe(
      'The endpoints of a consent without a workspace, which the token response then names.',
    ),
  authorizeParams: textMap.optional().describe('Query parameters of every authorization request.'),
  reauthorizeParams: textMap
    .optional()
    .describe('Further query parameters if the connection exists.'),
  refreshTokenScopes: z
    .array(text)
    .min(1)
    .max(20)
    .optional()
    .describe('The vendor issues a refresh token only with one of these scopes.'),
  explicitScopesRequired: flag.describe(
    'True if the vendor refuses an authorization request without scopes.',
  ),
  revocation: z
    .strictObject({ method: z.enum(['POST', 'DELETE']), url: urlTemplate })
    .optional()
    .describe(
      'The endpoint that revokes a token: by POST (RFC 7009), or by DELETE with the token at the end of the URL.',
    ),
  clientAuthentication: z
    .enum(['body', 'basic'])
    .optional()
    .describe('How the client authenticates at the token URL. Default: in the body.'),
  tokenFields: z
    .strictObject({
      workspaceRef: text.optional(),
      workspaceAddress: urlTemplate
        .optional()
        .describe(
          "The vendor's own address with `{{workspace}}`, if the response names the workspace by it.",
        ),
      consumerRef: text.optional(),
      scopes: text.optional(),
    })
    .optional()
    .describe('Dotted paths of values in the token response that the connection stores.'),
  defaultLifetimeSeconds: z
    .int()
    .min(60)
    .max(31_622_400)
    .optional()
    .describe('The lifetime of access tokens if the token response contains none.'),
  scopeSeparator: z
    .string()
    .min(1)
    .max(5)
    .optional()
    .describe('Separates the scopes of a request. Default: a space.'),
  tokenAttachment: attachment
    .optional()
    .describe(
      'Where requests carry the access token. Default: the header `Authorization`, as a bearer token.',
    ),
  tokenErrors: z
    .array(tokenErrorRule)
    .min(1)
    .max(20)
    .optional()
    .describe("The vendor's own errors of the token endpoint. The first matching rule applies."),
});

const assertion = z
  .strictObject({
    key: memberName.describe('The name of the input with the private key.'),
    keyFormat: z.enum(['pem', 'keyFile']),
    algorithms: z
      .array(z.enum(['PS256', 'ES256', 'ES384', 'ES512']))
      .max(4)
      .optional(),
    issuer: text.optional(),
    subject: text.optional(),
    keyId: text.optional(),
    audience: urlTemplate.optional(),
    otherAudience: z.strictObject({ workspacePart: text, audience: urlTemplate }).optional(),
    scopes: memberName.optional().describe('The name of the input with the scopes.'),
    fixedScopes: z
      .array(text)
      .max(50)
      .optional()
      .describe('The scopes if the customer does not enter them.'),
    lifetimeSeconds: z.int().positive().max(3_600).optional(),
    namesSnowflakeUser: flag,
  })
  .refine(({ scopes, fixedScopes }) => scopes === undefined || fixedScopes === undefined, {
    message: 'must have only one of `scopes` and `fixedScopes`',
  })
  .refine(({ issuer, keyFormat }) => (issuer === undefined) === (keyFormat === 'keyFile'), {
    message: 'must have an `issuer`, which only a key file names itself',
  })
  .describe('A JSON web token that the key of the customer signs (RFC 7523).');

const grantEndpoint = {
  tokenUrl: urlTemplate,
  defaultLifetimeSeconds: oauth2.shape.defaultLifetimeSeconds,
  tokenErrors: oauth2.shape.tokenErrors,
};

/** A named grant: src/providers/input-grants.ts says what each one does. */
const grant = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.enum(['JWT_BEARER', 'CLIENT_ASSERTION']),
    assertion,
    ...grantEndpoint,
  }),
  z.strictObject({ type: z.literal('SIGNED_TOKEN'), assertion }),
  z.strictObject({
    type: z.literal('LOGIN'),
    ...grantEndpoint,
    login: z.strictObject({
      basic: text,
      keyField: text,
      credentials: text,
      attachment: z.strictObject({
        in: z.literal('header'),
        name: headerName,
        valuePrefix: z.string().max(100),
      }),
    }),
  }),
]);

const customHeader = z
  .strictObject({ name: headerName, valueTemplate: text })
  .describe("A header or query parameter with the customer's inputs as `{{name}}`.");
const customParameter = z.strictObject({ name: text, valueTemplate: text });

const custom = z.strictObject({
  inputs: createInputList(credentialInput).describe('The secrets that customers enter.'),
  headers: z.array(customHeader).min(1).max(20).optional(),
  queryParams: z.array(customParameter).min(1).max(20).optional(),
  grant: grant
    .optional()
    .describe('The named grant by which the inputs become the token that requests carry.'),
});

const path = z
  .string()
  .max(2_000)
  .regex(/^((\/|https:\/\/)\S*)?$/, 'must be empty, start with a slash, or be an https URL')
  .describe('Absolute URLs must have the host of the base URL, or one of `linkHosts`.');

const healthCheck = z
  .union([
    path,
    z.strictObject({
      method: z.enum(['GET', 'POST']),
      path,
      query: z.record(z.string().max(100), text).optional(),
      headers: headerTemplates.optional(),
      body: jsonObject.optional(),
    }),
  ])
  .describe(
    'A request, or the path of a GET, with a small response to valid credentials, and 401 to invalid ones. It decides whether credentials are valid.',
  );

export const moduleEntry = z
  .strictObject({
    name: memberName.describe('The name in integrations, unique in the provider.'),
    aliases: z
      .array(memberName)
      .max(20)
      .optional()
      .describe('Other names that manifests may use for the module.'),
    displayName: text,
    baseUrl: urlTemplate,
    inputs: inputList
      .optional()
      .describe('Members of the metadata that a connection needs for the module.'),
    headers: headerTemplates
      .optional()
      .describe(
        "Headers of every request to the module. `{{name}}` is a member of the connection's metadata.",
      ),
  })
  .describe('A part of a provider, usually with its own base URL.');

export const catalogEntry = z.strictObject({
  displayName: text.max(100).describe('The name that people see.'),
  baseUrl: urlTemplate.describe(
    "The URL before every path. `{{workspace}}` is the customer's workspace, and other variables are inputs.",
  ),
  modules: z
    .array(moduleEntry)
    .min(1)
    .max(20)
    .optional()
    .describe('The first module is the default.'),
  hosts: z
    .record(memberName, hostList)
    .optional()
    .describe(
      'Permitted hosts for each variable that stands for a whole host. `*.` permits all subdomains.',
    ),
  linkHosts: hostList
    .optional()
    .describe(
      'Hosts besides that of `baseUrl` that links in responses may point to. Such requests carry the credentials.',
    ),
  authSchemes: z
    .array(z.enum(AUTH_SCHEMES))
    .min(1)
    .max(AUTH_SCHEMES.length)
    .describe('How connections authenticate, in order of preference.'),
  credentialsDocsUrl: docsUrl
    .optional()
    .describe("The vendor's page about credentials of the first scheme, by https."),
  oauth2: oauth2.optional().describe('Required for the OAuth schemes.'),
  apiKey: attachment
    .optional()
    .describe('Where requests carry the API key. Required for `API_KEY`.'),
  custom: custom
    .optional()
    .describe('Inputs of the customer that authenticate requests, for `NONE`.'),
  healthCheck: healthCheck.optional(),
  workspaceRequired: flag.describe(
    'True if connections need a workspace that the token response does not name.',
  ),
  workspaceDisplayName: text
    .optional()
    .describe('The vendor\'s word for the workspace. Default: "Workspace".'),
  workspaceHelp: inputHelp.optional().describe('Help for the workspace on the connect page.'),
});
