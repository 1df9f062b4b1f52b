/** Generates the pages of docs/providers/ from the declarations. */
import { listCapabilities } from '../src/providers/contract.ts';
import {
  type Declaration,
  type ObjectDeclaration,
  providerDeclaration,
} from '../src/providers/declarative/declaration/declaration.ts';
import type { ListDeclaration } from '../src/providers/declarative/declaration/list-declaration.ts';
import {
  createDeclarativeProvider,
  type DeclaredProvider,
} from '../src/providers/declarative/declarative-provider.ts';
import { findSearchList } from '../src/providers/declarative/reading/search-conditions.ts';
import { DECLARATIONS } from '../src/providers/declared/all.ts';

/** Pages of providers that are code and not declarations. */
export const MANUAL_PAGES = ['hubspot.md', 'salesforce.md'];

/** Returns the generated pages by file name. */
export function createProviderPages(): Map<string, string> {
  const sorted = DECLARATIONS.toSorted((a, b) => (a.displayName < b.displayName ? -1 : 1));
  const documented = sorted.map((declared) => ({
    declared,
    declaration: providerDeclaration.parse(declared.api),
  }));
  const pages = documented.map(
    (provider) => [getFileName(provider.declared), createPage(provider)] as const,
  );
  return new Map([['README.md', createIndex(documented)], ...pages]);
}

interface DocumentedProvider {
  declared: DeclaredProvider;
  declaration: Declaration;
}

function getFileName({ name }: DeclaredProvider): string {
  return `${name}.md`;
}

function createIndex(providers: DocumentedProvider[]): string {
  const rows = providers.map(({ declared, declaration }) => {
    const { objects, otherObjects, apiVersion, checkedAgainst } = declaration;
    const names = [...Object.keys(objects), ...(otherObjects ? ['any other object'] : [])];
    const link = `[${declared.displayName}](${getFileName(declared)})`;
    const cells = [
      link,
      names.join(', '),
      listSupport(declared),
      apiVersion ?? '–',
      checkedAgainst,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const notifying = providers.filter(
    ({ declaration: { events, eventList } }) => events ?? eventList,
  );
  return joinLines(
    '# Providers',
    '',
    'A provider is a third-party service that your customers connect. Each of these providers has a page with set-up steps:',
    '',
    '- [HubSpot](hubspot.md) and [Salesforce](salesforce.md)',
    '- [the sandbox](../../src/providers/sandbox/README.md), a CRM for trials',
    '- the [declared providers](#declared-providers)',
    '',
    'Other providers of the catalog only connect and proxy. The query `providers` lists them all.',
    '',
    '## Connect by OAuth',
    '',
    '1. Register an OAuth client (an app) at the vendor, with the redirect URL `<PUBLIC_URL>/oauth/callback`.',
    '   [`PUBLIC_URL`](../operations.md#addresses-and-roles) is the address of your gateway. In development, the redirect URL',
    '   is `http://127.0.0.1:4000/oauth/callback`.',
    '2. Store its client id and secret with `createProviderApp`, with the scopes that customers grant.',
    '3. Send the customer to the URL that `startOAuthConnect` returns, or to [the connect page](../connect.md).',
    '',
    'Providers that connect with a key or a password need no app. The customer enters the key on the connect page, or your',
    'backend passes it to `generateConnection`.',
    '',
    '## Declared providers',
    '',
    `These ${providers.length} providers are declarations in \`src/providers/declared/\`. ${notifying.length} of them notify the gateway of changes.`,
    '`npm run provider:pages` writes their pages.',
    '',
    'No live account was available. They are tested against servers that speak the wire format of the description in the',
    'last column.',
    '',
    '| provider | objects | supports | API version | checked against |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  );
}

function listSupport(declared: DeclaredProvider): string {
  const capabilities = listCapabilities(createDeclarativeProvider(declared));
  return capabilities.map((capability) => capability.toLowerCase().replaceAll('_', ' ')).join(', ');
}

const LEGEND = [
  'Incremental read: how a later read finds the records that changed. Paging: the effect of changes during a read.',
  '',
  '- **exact**: no record is skipped or repeated, unless all records of a page share a timestamp.',
  "- **cursor**: consistency depends on the vendor's cursor.",
  '- **numbered**: a record may be repeated, or missed until the next read.',
];

function createPage({ declared, declaration }: DocumentedProvider): string {
  const { otherObjects } = declaration;
  const objects = Object.entries(declaration.objects);
  return joinLines(
    `# ${declared.displayName}`,
    '',
    `\`${declared.name}\` · ${declared.baseUrl}${declaration.apiVersion ? ` · ${declaration.apiVersion}` : ''} · [vendor documentation](${declaration.docsUrl})`,
    '',
    `Supports: ${listSupport(declared)}.`,
    '',
    `Tested against: ${declaration.checkedAgainst}. Not tested with a live account.`,
    '',
    '## Set up',
    '',
    ...listSetUpSteps(declared, declaration),
    '',
    '## Objects',
    '',
    '| object | page size | incremental read | paging | search | create | update | delete | fields |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...objects.map(([name, object]) => formatRow(`\`${name}\``, object)),
    ...(otherObjects ? [formatRow('any other object', otherObjects)] : []),
    '',
    ...LEGEND,
    ...(declaration.notes.length > 0
      ? ['', 'Notes:', '', ...declaration.notes.map((note) => `- ${note}`)]
      : []),
    ...describeEvents(declaration),
  );
}

function listSetUpSteps(declared: DeclaredProvider, { scopes, inputs }: Declaration): string[] {
  const { authSchemes, workspaceRequired, custom, limits } = declared;
  const requiredInputs = [
    ...(workspaceRequired ? ['`providerWorkspaceRef`'] : []),
    ...Object.entries(inputs).map(
      ([name, { displayName: text, isOptional }]) =>
        `\`providerMetadata.${name}\` (${text}${isOptional ? '; can be set after connecting' : ''})`,
    ),
    ...(custom?.inputs ?? []).map(({ name, displayName }) => `\`${name}\` (${displayName})`),
  ];
  const usesApp = authSchemes.some((scheme) => scheme.startsWith('OAUTH2_AUTHORIZATION_CODE'));
  return [
    ...(usesApp
      ? [
          '- Register an OAuth app at the vendor with the redirect URL `<PUBLIC_URL>/oauth/callback`, and store its client id and secret',
          '  with `createProviderApp` ([steps](README.md#connect-by-oauth)).',
        ]
      : []),
    ...(scopes.length > 0
      ? [`- OAuth scopes: ${scopes.map((scope) => `\`${scope}\``).join(', ')}.`]
      : []),
    `- Authentication: ${authSchemes.map((authScheme) => `\`${authScheme}\``).join(', ')}.`,
    ...(requiredInputs.length > 0
      ? [`- Required when connecting: ${requiredInputs.join(', ')}.`]
      : []),
    ...(limits?.requestsPerSecond
      ? [
          `- The gateway sends at most ${limits.requestsPerSecond} requests per second for each connection.`,
        ]
      : []),
  ];
}

function formatRow(label: string, object: ObjectDeclaration): string {
  const {
    list,
    incrementalList,
    create,
    update,
    remove,
    createMany,
    fieldList: fields,
    standardFields,
    parent,
    aliases,
  } = object;
  const changesList = incrementalList ?? list;
  const fullReadList = incrementalList?.fullReadQuery ? incrementalList : list;
  return `| ${[
    `${label}${formatAliases(aliases)}${parent ? ` of ${parent.object}` : ''}`,
    describePageSize(fullReadList),
    describeIncrementalRead(changesList, object),
    describePaging(changesList),
    findSearchList(object) ? 'by values' : '–',
    create ? (createMany ? 'one, many' : 'one') : '–',
    update ? 'yes' : '–',
    remove ? 'yes' : '–',
    fields ? 'read from the account' : standardFields ? 'fixed' : '–',
  ].join(' | ')} |`;
}

function formatAliases(aliases: string[]): string {
  return aliases.length > 0 ? ` (also ${aliases.map((alias) => `\`${alias}\``).join(', ')})` : '';
}

function describePageSize({ pageSize, paging }: ListDeclaration): string {
  if (pageSize) return `${pageSize.max}`;
  return paging.kind === 'none' ? 'all records' : "the vendor's";
}

function describeIncrementalRead(list: ListDeclaration, { changedAt }: ObjectDeclaration): string {
  if (list.dayRange) return `last ${list.dayRange.days} days`;
  if (list.since && list.until) return 'time range';
  if (list.since) return changedAt ? 'since a time' : 'since a time, without an end';
  if (list.isNewestFirst) return 'newest first';
  return changedAt ? 'filtered by the gateway' : 'all records';
}

/** Returns lines about the events that the vendor sends, and how subscriptions are created. */
function describeEvents({ events, eventList }: Declaration): string[] {
  const heading = ['', '## Events', ''];
  if (eventList) {
    const kinds = Object.values(eventList.entries.changes).map((kind) => kind.toLowerCase());
    return [
      ...heading,
      `The vendor notifies the gateway that records changed (${kinds.join(', ')}), and the gateway fetches the changes from the`,
      "vendor's list. It creates the subscriptions itself.",
    ];
  }
  if (!events) return [];
  const byObject = Map.groupBy(Object.values(events.types), ({ object }) => object);
  const objects = [...byObject].map(([object, types]) => {
    const kinds = new Set(types.map(({ kind }) => kind.toLowerCase()));
    return `${object ? `\`${object}\`` : 'records of any object'} (${[...kinds].join(', ')})`;
  });
  const subscription = events.subscription
    ? 'The gateway creates the subscriptions itself.'
    : 'Set up the webhook once at the vendor: `ProviderApp.webhookInstructions` has the steps.';
  return [...heading, `The vendor sends events of ${objects.join(', ')}. ${subscription}`];
}

function describePaging(list: ListDeclaration): string {
  const { kind } = list.paging;
  if (list.isKeysetPaged) return 'exact';
  if (kind === 'none') return 'exact';
  return kind === 'offset' || kind === 'page' || kind === 'link' ? 'numbered' : 'cursor';
}

function joinLines(...lines: string[]): string {
  return `${lines.join('\n')}\n`;
}
