/** Generates docs/providers/catalog.md: one table of all providers, and what is known of each. */
import { createWorkspaceInput } from '../../src/domain/connections/provider/provider-workspace.ts';
import { CATALOG, PROXY_ENTRIES } from '../../src/providers/catalog/all-entries.ts';
import { type CustomInput, listCapabilities, type Provider } from '../../src/providers/contract.ts';
import { DECLARATIONS } from '../../src/providers/declared/all.ts';
import { createHubspotProvider } from '../../src/providers/hubspot/hubspot-provider.ts';
import {
  createSalesforceJwtProvider,
  createSalesforceProvider,
} from '../../src/providers/salesforce/salesforce-provider.ts';

const SCHEME_NAMES = {
  NONE: 'custom inputs',
  API_KEY: 'API key',
  BASIC: 'user name and password',
  OAUTH2_AUTHORIZATION_CODE: 'OAuth consent',
  OAUTH2_AUTHORIZATION_CODE_PKCE: 'OAuth consent with PKCE',
  OAUTH2_CLIENT_CREDENTIALS: 'OAuth client credentials',
  OAUTH2_PASSWORD: 'OAuth password grant',
};

const SOURCES = new Map([
  ...PROXY_ENTRIES.map(({ name, checkedAgainst }) => [name, checkedAgainst] as const),
  ...DECLARATIONS.map(({ name }) => [name, `[its page](${name}.md)`] as const),
  ['hubspot', '[its page](hubspot.md)'],
  ['salesforce', '[its page](salesforce.md)'],
  ['salesforceJWT', "[Salesforce's page](salesforce.md)"],
]);

const NOTES = new Map(PROXY_ENTRIES.map(({ name, notes = [] }) => [name, notes]));

export function createCatalogPage(): string {
  const providers = [
    createHubspotProvider(),
    createSalesforceProvider(),
    createSalesforceJwtProvider(),
    ...CATALOG,
  ].toSorted((a, b) => a.displayName.localeCompare(b.displayName, 'en'));
  const notes = providers.flatMap((provider) => {
    const sentences = listNotes(provider);
    if (sentences.length === 0) return [];
    return [`- **${provider.displayName}** (\`${provider.name}\`): ${sentences.join(' ')}`];
  });
  const inputs = providers.flatMap((provider) => {
    const texts = listInputs(provider).flatMap(describeHelp);
    return texts.length === 0 ? [] : [`- **${provider.displayName}**: ${texts.join(' ')}`];
  });
  return `# All providers

The ${providers.length} providers of the catalog, without the sandbox. To find one, search this page for its name. \`npm run provider:pages\`
writes the page.

- *Inputs* are the values that connecting needs besides credentials: \`workspace\` is \`providerWorkspaceRef\`, and the others
  are members of \`providerMetadata\`. Inputs of a module are only needed in integrations of the module. Names of inputs
  and schemes link to the vendor's page about them.
- *Supports* lists the capabilities of the gateway. A provider that only supports the proxy connects, refreshes its tokens,
  and forwards requests. The gateway does not read or write its records.
- *Health check* says whether the gateway can check a key before it stores it. Without a health check, it stores the key
  unchecked.
- *Checked against* is the source of the facts. No live accounts were available. \`test/providers/catalog/catalog-walk.test.ts\`
  connects each provider to a stand-in, refreshes its token, and forwards a request.

[Compatibility](../compatibility.md#providers) lists where providers differ from those of the reference API.

| provider | name | connects with | inputs | modules | supports | health check | checked against |
| --- | --- | --- | --- | --- | --- | --- | --- |
${providers.map((provider) => `| ${createRow(provider).join(' | ')} |`).join('\n')}

## Where customers find the inputs

The connect page shows these texts at its inputs, with the links of the table.

${inputs.join('\n')}

## Notes

${notes.join('\n')}
`;
}

function listNotes({ name, oauth2 }: Provider): string[] {
  const basic = 'The OAuth client authenticates at the token endpoint with HTTP Basic.';
  return [...(NOTES.get(name) ?? []), ...(oauth2?.clientAuthentication === 'basic' ? [basic] : [])];
}

function createRow(provider: Provider): string[] {
  const { name, displayName, authSchemes, modules = [], healthCheck } = provider;
  const links = listInputs(provider).map((input) => link(`\`${input.name}\``, input.docsUrl));
  return [
    displayName,
    `\`${name}\``,
    authSchemes
      .map((scheme, index) =>
        link(SCHEME_NAMES[scheme], index === 0 ? provider.credentialsDocsUrl : undefined),
      )
      .join(', '),
    formatList(links),
    formatList(modules.map((module) => `\`${module.name}\``)),
    listCapabilities(provider)
      .map((capability) => capability.toLowerCase().replaceAll('_', ' '))
      .join(', '),
    healthCheck ? 'yes' : 'no',
    SOURCES.get(name) ?? '–',
  ];
}

function listInputs(provider: Provider): CustomInput[] {
  const { workspaceRequired, inputs = [], modules = [], custom } = provider;
  const declaredInputs = [
    ...(workspaceRequired ? [createWorkspaceInput(provider)] : []),
    ...inputs,
    ...modules.flatMap((module) => module.inputs ?? []),
    ...(custom?.inputs ?? []).map((input) => ({ ...input, name: `customAuth.${input.name}` })),
  ];
  return [...new Map(declaredInputs.map((input) => [input.name, input])).values()];
}

function describeHelp({ name, prompt, defaultValue }: CustomInput): string[] {
  if (!prompt && !defaultValue) return [];
  const sentence = prompt && (/[.!?]$/.test(prompt) ? prompt : `${prompt}.`);
  const suggestion = defaultValue && `Suggested: \`${defaultValue}\`.`;
  return [[`\`${name}\`:`, sentence, suggestion].filter(Boolean).join(' ')];
}

const link = (text: string, url: string | undefined) => (url ? `[${text}](${url})` : text);

const formatList = (items: readonly string[]) => (items.length > 0 ? items.join(', ') : '–');
