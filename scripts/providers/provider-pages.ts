/** Generates the pages of docs/providers/ from the declarations. */
import { listCapabilities } from '../../src/providers/contract.ts';
import {
  type Declaration,
  type ObjectDeclaration,
  providerDeclaration,
} from '../../src/providers/declarative/declaration/declaration.ts';
import type { ListDeclaration } from '../../src/providers/declarative/declaration/list-declaration.ts';
import {
  createDeclarativeProvider,
  type DeclaredProvider,
} from '../../src/providers/declarative/declarative-provider.ts';
import { findSearchList } from '../../src/providers/declarative/reading/search-conditions.ts';
import { DECLARATIONS } from '../../src/providers/declared/all.ts';
import { createCatalogPage } from './provider-catalog-page.ts';
import { describeReads } from './provider-reads.ts';

/** Pages of providers that are code and not declarations. */
export const MANUAL_PAGES = ['hubspot.md', 'salesforce.md', 'your-own.md', 'document.md'];

interface DocumentedProvider {
  declared: DeclaredProvider;
  declaration: Declaration;
}

/** Returns the generated pages by file name. */
export function createProviderPages(): Map<string, string> {
  const providers = DECLARATIONS.map((declared) => ({
    declared,
    declaration: providerDeclaration.parse(declared.api),
  })).sort((a, b) => (a.declared.displayName < b.declared.displayName ? -1 : 1));
  const pages = providers.map(
    (provider) => [getFileName(provider.declared), createPage(provider)] as const,
  );
  return new Map([
    ['README.md', createIndex(providers)],
    ['catalog.md', createCatalogPage()],
    ...pages,
  ]);
}

function getFileName({ name }: DeclaredProvider): string {
  return `${name}.md`;
}

function createIndex(providers: DocumentedProvider[]): string {
  const rows = providers.map(({ declared, declaration }) => {
    const { objects, otherObjects, writeOnlyObjects, apiVersion, checkedAgainst } = declaration;
    const names = [
      ...Object.keys({ ...objects, ...writeOnlyObjects }),
      ...(otherObjects ? ['any other object'] : []),
    ];
    return formatRow([
      `[${declared.displayName}](${getFileName(declared)})`,
      names.join(', '),
      listSupport(declared),
      apiVersion ?? '–',
      checkedAgainst ?? '–',
    ]);
  });
  const subscribable = providers.filter(
    ({ declaration: { events, eventList } }) => events ?? eventList,
  );
  return `# Providers

A provider is a third-party service that your customers connect. Each of these providers has a page with set-up steps:

- [HubSpot](hubspot.md) and [Salesforce](salesforce.md)
- [the sandbox](../../src/providers/sandbox/README.md), a CRM for trials
- the [declared providers](#declared-providers)
- [your own provider](your-own.md), which a document describes

Other providers of the catalog only connect and forward requests. [All providers](catalog.md) has one table of the whole
catalog, with what each supports and by what it was checked. The query \`providers\` lists them too.

## Connect by OAuth

1. Register an OAuth client (an app) at the vendor, with the redirect URL \`<PUBLIC_URL>/oauth/callback\`.
   [\`PUBLIC_URL\`](../operations/settings.md) is the address of your gateway. In development, the redirect URL
   is \`http://127.0.0.1:4000/oauth/callback\`.
2. Store its client id and secret with \`createProviderApp\`, with the scopes that customers grant.
3. Send the customer to the URL that \`startOAuthConnect\` returns, or to [the connect page](../connect.md).

Providers that connect with a key or a password need no app. The customer enters the key on the connect page, or your
backend passes it to \`generateConnection\`.

## What a read promises

A read delivers each record at least once in its last version, or its operation ends FAILED with a reason. Records may
be delivered more than once. Three kinds of records are outside this promise:

- a change that appears in the vendor's list later than the time that the provider's page states
- records after a page that the vendor hides completely, if the list gives no sign that it continues
- a record that moves to another page because other records change or are deleted during the read, in a list whose paging
  is *numbered*, or in an *exact* one if a whole page of records changed in the same second

If such records are missing, read the object again with \`triggerRead\`. The pages of the providers state how late changes
may appear, which limits a list has, and which values the vendor cuts. Where the vendor does not document its behavior,
the gateway repeats requests and records so that it loses none.

## Declared providers

These ${providers.length} providers are declarations in \`src/providers/declared/\`. ${subscribable.length} of them notify the gateway of changes.
\`npm run provider:pages\` writes their pages.

No live accounts were available. Each provider is tested against a test server that follows the source in the last
column.

| provider | objects | supports | API version | source |
| --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}

function listSupport(declared: DeclaredProvider): string {
  const capabilities = listCapabilities(createDeclarativeProvider(declared));
  return capabilities.map((capability) => capability.toLowerCase().replaceAll('_', ' ')).join(', ');
}

function createPage({ declared, declaration }: DocumentedProvider): string {
  const { name, displayName, baseUrl } = declared;
  const { apiVersion, docsUrl, checkedAgainst, notes } = declaration;
  const links = [
    `\`${name}\``,
    baseUrl,
    ...(apiVersion ? [`API version ${apiVersion}`] : []),
    `[vendor documentation](${docsUrl})`,
  ];
  const sections = [
    `# ${displayName}

${links.join(' · ')}

Supports: ${listSupport(declared)}.

Tested against a test server that follows ${checkedAgainst}. Not tested with a live account.`,
    `## Set up\n\n${listSetUpSteps(declared, declaration).join('\n')}`,
    `## Objects\n\n${formatObjects(declaration)}`,
    describeReads(declaration),
    ...(notes.length > 0 ? [`Notes:\n\n${notes.map((note) => `- ${note}`).join('\n')}`] : []),
    ...describeEvents(declaration),
  ];
  return `${sections.join('\n\n')}\n`;
}

function listSetUpSteps(declared: DeclaredProvider, { scopes, inputs }: Declaration): string[] {
  const { authSchemes, workspaceRequired, custom, limits } = declared;
  const requiredInputs = [
    ...(workspaceRequired ? ['`providerWorkspaceRef`'] : []),
    ...Object.entries(inputs).map(
      ([name, { displayName, isOptional }]) =>
        `\`providerMetadata.${name}\` (${displayName}${isOptional ? '; can be set after connecting' : ''})`,
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
    ...(scopes.length > 0 ? [`- OAuth scopes: ${formatCodeList(scopes)}.`] : []),
    `- Authentication: ${describeAuthentication(declared)}.`,
    ...(requiredInputs.length > 0
      ? [`- Required when connecting: ${requiredInputs.join(', ')}.`]
      : []),
    ...(limits?.requestsPerSecond
      ? [
          `- The gateway sends at most ${formatCount(limits.requestsPerSecond, 'request')} per second for each connection.`,
        ]
      : []),
  ];
}

/** Describes the schemes. For the scheme NONE, describes the custom inputs that authenticate requests instead. */
function describeAuthentication({ authSchemes, custom }: DeclaredProvider): string {
  const inputs = (custom?.inputs ?? []).map(
    ({ name, displayName }) => `${displayName.toLowerCase()} (\`customAuth.${name}\`)`,
  );
  return authSchemes
    .map((scheme) => (scheme === 'NONE' && inputs.length > 0 ? inputs.join(', ') : `\`${scheme}\``))
    .join(', ');
}

/** The meanings of cells that need an explanation, by column. */
const PAGE_SIZES = { "the vendor's": 'the vendor sets the page size.' };
const INCREMENTAL_READS = {
  'time range': 'the vendor filters by the time of change, with a start and an end.',
  'since a time': 'the vendor filters by the time of change, with a start only.',
  'newest first':
    'the vendor lists the newest changes first, and the gateway stops at the first unchanged record.',
  'filtered by the gateway': 'the gateway reads the whole list and drops unchanged records.',
};
const PAGINGS = {
  exact: 'no record is skipped or repeated, unless all records of a page share a timestamp.',
  cursor:
    "the gateway continues at the vendor's cursor. Whether it can skip or repeat a record depends on the vendor.",
  numbered: 'a record may be repeated, or missed until the next read.',
};
const CREATES = {
  single: 'each request creates one record.',
  'single or batch': 'a request creates one or several records.',
};
const FIELDS = {
  'read from the account': 'the vendor describes the fields of each account.',
  'fixed list': 'the gateway lists the same fields for every account.',
  'not listed': 'the gateway has no list of the fields.',
};

/** Formats the table of objects, with a legend of the cells that it uses. */
function formatObjects({ objects, otherObjects, writeOnlyObjects }: Declaration): string {
  const rows = [
    ...Object.entries(objects).map(([name, object]) => describeObject(`\`${name}\``, object)),
    ...(otherObjects ? [describeObject('any other object', otherObjects)] : []),
  ];
  const table = [
    '| object | page size | incremental read | paging | search | create | update | delete | fields |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map(formatRow),
  ].join('\n');
  const cells = rows.flat();
  const writeOnlyNames = Object.keys(writeOnlyObjects);
  return [
    table,
    ...(writeOnlyNames.length > 0
      ? [`Created one by one, and neither read nor listed: ${formatCodeList(writeOnlyNames)}.`]
      : []),
    ...formatLegend('*Page size* is the maximum number of records in one page:', PAGE_SIZES, cells),
    ...formatLegend(
      '*Incremental read* is how a later read finds the changed records:',
      INCREMENTAL_READS,
      cells,
    ),
    ...formatLegend(
      '*Paging* says whether a read can skip or repeat records that change meanwhile:',
      PAGINGS,
      cells,
    ),
    ...formatLegend('*Create* says how many records one request creates:', CREATES, cells),
    ...formatLegend('*Fields* says where the list of fields comes from:', FIELDS, cells),
  ].join('\n\n');
}

/** Returns the heading and the meanings of the cells. Empty if none of the cells needs an explanation. */
function formatLegend(
  heading: string,
  meaningByCell: Record<string, string>,
  cells: string[],
): string[] {
  const meanings = Object.entries(meaningByCell)
    .filter(([cell]) => cells.includes(cell))
    .map(([cell, meaning]) => `- **${cell}**: ${meaning}`);
  return meanings.length > 0 ? [`${heading}\n\n${meanings.join('\n')}`] : [];
}

/** Returns the cells of an object's row. */
function describeObject(label: string, object: ObjectDeclaration): string[] {
  const { list, incrementalList, create, createMany, parent, aliases } = object;
  const changesList = incrementalList ?? list;
  const fullReadList = incrementalList?.fullReadQuery ? incrementalList : list;
  const otherNames = aliases.length > 0 ? ` (also ${formatCodeList(aliases)})` : '';
  return [
    `${label}${otherNames}${parent ? ` of ${parent.object}` : ''}`,
    describePageSize(fullReadList),
    describeIncrementalRead(changesList, object),
    describePaging(changesList),
    findSearchList(object) ? 'by values' : 'no',
    create ? (createMany ? 'single or batch' : 'single') : 'no',
    object.update ? 'yes' : 'no',
    object.remove ? 'yes' : 'no',
    object.fieldList
      ? 'read from the account'
      : object.standardFields
        ? 'fixed list'
        : 'not listed',
  ];
}

function describePageSize({ pageSize, paging }: ListDeclaration): string {
  if (pageSize) return `${pageSize.max}`;
  return paging.kind === 'none' ? 'one page' : "the vendor's";
}

function describeIncrementalRead(
  list: ListDeclaration,
  { changedAt }: ObjectDeclaration,
): keyof typeof INCREMENTAL_READS | `last ${number} days` | 'all records' {
  if (list.dayRange) return `last ${list.dayRange.days} days`;
  if (list.since) return list.until ? 'time range' : 'since a time';
  if (list.isNewestFirst) return 'newest first';
  return changedAt ? 'filtered by the gateway' : 'all records';
}

function describePaging({
  paging,
  isKeysetPaged,
  afterId,
}: ListDeclaration): keyof typeof PAGINGS | 'one page' {
  if (isKeysetPaged || afterId) return 'exact';
  if (paging.kind === 'none') return 'one page';
  return ['offset', 'page', 'link'].includes(paging.kind) ? 'numbered' : 'cursor';
}

/** Returns a section about the events that the vendor sends. Empty if the gateway receives none. */
function describeEvents({ events, eventList }: Declaration): string[] {
  if (eventList) {
    const kinds = Object.values(eventList.entries.changes).map((kind) => kind.toLowerCase());
    return [
      `## Events

The vendor notifies the gateway that records changed (${kinds.join(', ')}), and the gateway reads the changes from a list
of the vendor. The gateway creates the subscriptions.`,
    ];
  }
  if (!events) return [];
  const typesByObject = Map.groupBy(Object.values(events.types), ({ object }) => object);
  const changes = [...typesByObject].map(([object, types]) => {
    const kinds = new Set(types.map(({ kind }) => kind.toLowerCase()));
    return `- ${object ? `\`${object}\`` : 'records of any object'}: ${[...kinds].join(', ')}`;
  });
  const subscription = events.subscription
    ? 'The gateway creates the subscriptions.'
    : 'Set up the webhook once at the vendor: `ProviderApp.webhookInstructions` has the steps.';
  return [
    `## Events\n\nThe vendor reports these changes:\n\n${changes.join('\n')}\n\n${subscription}`,
  ];
}

function formatRow(cells: string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function formatCodeList(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
