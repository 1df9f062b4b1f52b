/** The pages of docs/providers/, made from the declarations: each says what is supported and how it was checked. */
import { supportedCapabilities } from '../src/providers/contract.ts';
import {
  type Declaration,
  declaration,
  type ObjectDeclaration,
} from '../src/providers/declarative/declaration/declaration.ts';
import type { List } from '../src/providers/declarative/declaration/list-declaration.ts';
import {
  type DeclaredProvider,
  declarativeProvider,
} from '../src/providers/declarative/declarative-provider.ts';
import { allObjects } from '../src/providers/declarative/find-object.ts';
import { searchList } from '../src/providers/declarative/reading/equality.ts';
import { DECLARATIONS } from '../src/providers/declared/all.ts';

/** Their texts by file name. */
export function providerPages(): Map<string, string> {
  const sorted = DECLARATIONS.toSorted((a, b) => (a.displayName < b.displayName ? -1 : 1));
  const pages = sorted.map((declared) => [fileOf(declared), page(declared)] as const);
  return new Map([['README.md', index(sorted)], ...pages]);
}

function fileOf({ name }: DeclaredProvider): string {
  return `${name}.md`;
}

function index(all: DeclaredProvider[]): string {
  const rows = all.map((declared) => {
    const { objects, anyObject } = declaration.parse(declared.records);
    const names = [...Object.keys(objects), ...(anyObject ? ['any other'] : [])];
    const link = `[${declared.displayName}](${fileOf(declared)})`;
    return `| ${link} | ${names.join(', ')} | ${supports(declared)} |`;
  });
  const said = all.map(({ records }) => declaration.parse(records));
  const telling = said.filter(({ events, eventList }) => events ?? eventList);
  const beside = new Set(said.flatMap(functionsOf));
  return lines(
    '# Providers made of a declaration',
    '',
    'Written by `npm run provider:pages` from `src/providers/declared/`. HubSpot, Salesforce and the sandbox are code',
    'of their own; the other rows of the catalogue connect and forward only.',
    '',
    'No live account was reached. One object of each was held to a server that speaks the wire format of its published',
    'description, with its errors, pages and filters; the others are of the same shape, and agree with themselves.',
    'The page of a provider says what that description was.',
    '',
    `${all.length} providers, ${telling.length} of which tell of changes. What could not be said as data is ${beside.size} functions, named on the`,
    'pages of their providers.',
    '',
    '| provider | objects | supports |',
    '| --- | --- | --- |',
    ...rows,
  );
}

function supports(declared: DeclaredProvider): string {
  const found = supportedCapabilities(declarativeProvider(declared));
  return found.map((one) => one.toLowerCase().replace('_', ' ')).join(', ');
}

function page(declared: DeclaredProvider): string {
  const said = declaration.parse(declared.records);
  const objects = Object.entries(said.objects);
  if (said.anyObject) objects.push(['any other', said.anyObject]);
  return lines(
    `# ${declared.displayName}`,
    '',
    `\`${declared.name}\` · ${declared.baseUrl}${said.apiVersion ? ` · ${said.apiVersion}` : ''} · [the vendor's documentation](${said.docsUrl})`,
    '',
    `Supports: ${supports(declared)}.`,
    '',
    `Checked against: ${said.checkedAgainst}. No live account was reached.`,
    '',
    ...connecting(declared, said),
    '',
    '| object | records | a read of changes | while it changes | search | create | update | delete | fields |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...objects.map(([name, object]) => row(name, object)),
    '',
    ...LEGEND,
    ...(said.notes.length > 0 ? ['', ...said.notes.map((note) => `- ${note}`)] : []),
    '',
    ...telling(said),
    functionsBeside(said),
  );
}

function connecting(declared: DeclaredProvider, { scopes, inputs }: Declaration): string[] {
  const { authSchemes, workspaceRequired, custom, limits } = declared;
  const asked = [
    ...(workspaceRequired ? ['`providerWorkspaceRef`'] : []),
    ...Object.entries(inputs).map(
      ([name, { displayName: text, isKnownLater }]) =>
        `\`providerMetadata.${name}\` (${text}${isKnownLater ? '; may be given after connecting' : ''})`,
    ),
    ...(custom?.inputs ?? []).map(({ name, displayName }) => `\`${name}\` (${displayName})`),
  ];
  return [
    `- Connects by ${authSchemes.join(', ')}${asked.length > 0 ? ` and asks for ${asked.join(', ')}` : ''}.`,
    ...(scopes.length > 0 ? [`- Scopes: ${scopes.map((one) => `\`${one}\``).join(', ')}.`] : []),
    ...(limits?.requestsPerSecond
      ? [`- At most ${limits.requestsPerSecond} requests a second for each connection.`]
      : []),
  ];
}

function row(name: string, object: ObjectDeclaration): string {
  const { all, changed, create, update, remove, createMany, fields, known, parent, aliases } =
    object;
  const list = changed ?? all;
  const whole = changed?.whole ? changed : all;
  return `| ${[
    `\`${name}\`${also(aliases)}${parent ? ` below ${parent.object}` : ''}`,
    pageText(whole),
    changes(list, object),
    seam(list),
    searchList(object) ? 'by values' : '–',
    create ? (createMany ? 'one, many' : 'one') : '–',
    update ? 'yes' : '–',
    remove ? 'yes' : '–',
    fields ? 'listed by the account' : known ? 'known' : '–',
  ].join(' | ')} |`;
}

function also(aliases: string[]): string {
  return aliases.length > 0 ? ` (also ${aliases.map((alias) => `\`${alias}\``).join(', ')})` : '';
}

function pageText({ size, paging }: List): string {
  if (size) return `${size.max} in a page`;
  return paging.kind === 'none' ? 'all at once' : "pages of the vendor's size";
}

function changes(list: List, { changedAt }: ObjectDeclaration): string {
  if (list.days) return `all of the last ${list.days.count} days`;
  if (list.since && list.until) return 'filtered by the vendor';
  if (list.since) return changedAt ? 'from a time on' : 'from a time on, without an end';
  if (list.newestFirst) return 'newest first, until the time';
  return changedAt ? 'left out here' : 'all of them';
}

/** Which changes are told when they happen, and who sets that up. */
function telling({ events, eventList }: Declaration): string[] {
  if (eventList) {
    const kinds = Object.values(eventList.entries.changes).map((kind) => kind.toLowerCase());
    return [
      `Tells that something has changed when it happens: records of any object (${kinds.join(', ')}). The gateway subscribes by itself, and`,
      "fetches what it was from the vendor's list.",
      '',
    ];
  }
  if (!events) return [];
  const told = Map.groupBy(Object.values(events.types), ({ object }) => object);
  const objects = [...told].map(([object, all]) => {
    const kinds = new Set(all.map(({ kind }) => kind.toLowerCase()));
    return `${object ? `\`${object}\`` : 'records of any object'} (${[...kinds].join(', ')})`;
  });
  const by = events.subscription ? 'The gateway subscribes by itself' : 'A person sets it up once';
  return [`Tells of changes when they happen: ${objects.join(', ')}. ${by}.`, ''];
}

function seam(list: List): string {
  const { kind } = list.paging;
  if (list.isKeyset) return 'exact';
  if (kind === 'none') return 'exact';
  return kind === 'offset' || kind === 'page' || kind === 'link' ? 'may shift' : "the vendor's";
}

const LEGEND = [
  'While a list changes between two pages: *exact* is asked for from the last time on, and neither leaves out nor',
  "doubles a record, unless a whole page has one time; *the vendor's* keeps its place by the vendor's cursor; *may shift*",
  'is counted by the vendor, so that a record at the seam may come twice or only with the next read.',
];

/** What can't be said as data is a function with a name. */
function functionsOf(said: Declaration): string[] {
  const found = allObjects(said).flatMap(({ nested }) =>
    nested.flatMap(({ read, alias, write }) => [read, alias, write]),
  );
  return [...new Set(found.flatMap((one) => one?.name ?? []))];
}

function functionsBeside(said: Declaration): string {
  const names = functionsOf(said);
  return names.length === 0
    ? 'All of it is data.'
    : `Functions beside the data: ${names.map((name) => `\`${name}\``).join(', ')}.`;
}

function lines(...all: string[]): string {
  return `${all.join('\n')}\n`;
}
