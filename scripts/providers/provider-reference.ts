/** Generates docs/providers/document.md, the reference of all members of provider documents, from their JSON Schema. */
import { createProviderSchema } from './provider-schema.ts';

interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  maximum?: number;
}

interface Row {
  name: string;
  form: string;
  description: string;
}

const PART_TITLES: Record<string, string> = {
  oauth2: 'OAuth',
  limits: 'Limits',
  api: 'The API',
  object: 'An object',
  list: 'A list',
  paging: 'Paging',
  timeFilter: 'A filter by time',
  selectedFields: 'Selected fields',
  nestedFields: 'Nested fields',
  names: 'Names of fields',
  write: 'A write',
  batch: 'A batch',
  behavior: 'Behavior',
  events: 'Events',
  authentication: 'Authentication of events',
  eventValue: 'A value of an event',
  eventList: 'A list of events',
};

export function createProviderReference(): string {
  const { $defs: parts = {}, ...document } = JSON.parse(createProviderSchema()) as Schema;
  const sections = Object.entries(PART_TITLES).map(([id, title]) => {
    const schema = parts[id];
    if (!schema) throw new Error(`Bug: the JSON Schema has no part ${id}`);
    const description = formatText(schema.description).replaceAll('\n', '\n\n');
    return `## ${title}\n\n${description ? `${description}\n\n` : ''}${createTable(schema)}`;
  });
  return `# Members of a provider document

[Your own provider](your-own.md) explains how to write a document. This page lists all of its members.
[provider.schema.json](../provider.schema.json) is the JSON Schema from which \`npm run provider:schema\` writes the page.
Members that are required are marked with *.

- A *pointer* is a JSON Pointer (RFC 6901) into a response, a record or a body: \`/data/id\`. The empty string is the whole
  value.
- A *path* is appended to \`baseUrl\`. \`{name}\` is replaced by one segment: the record's \`id\` or a part of it, the \`object\`,
  or a parent's variable. \`{+name}\` may contain slashes. \`{{name}}\` is an input of the connection.
- A *location* says where a request carries a value: \`in\` is \`query\`, \`header\` or \`body\`, and \`name\` is its name, or a
  pointer in a body.

## The document

${createTable(document)}

${sections.join('\n\n')}
`;
}

function createTable(schema: Schema): string {
  // Several forms of a value may have a member in common.
  const groups = Map.groupBy(listRows(schema, ''), ({ name }) => name.replace('*', ''));
  const lines = [...groups.values()].map((rows) => {
    const name = rows.find((row) => !row.name.endsWith('*'))?.name ?? rows[0]?.name;
    const forms = [...new Set(rows.map(({ form }) => form))].join(', ');
    const description = rows.find((row) => row.description)?.description ?? '';
    return `| ${name} | ${forms} | ${description} |`;
  });
  return ['| member | form | meaning |', '| --- | --- | --- |', ...lines].join('\n');
}

/** Yields a row for each member, and for the members inside it. A value with several forms has the members of each. */
function* listRows(schema: Schema, prefix: string): Generator<Row> {
  const { properties = {}, required = [], items, additionalProperties } = schema;
  for (const [name, member] of Object.entries(properties)) {
    const path = `${prefix}${name}`;
    const mark = required.includes(name) ? '*' : '';
    const description = formatText(member.description).replaceAll('\n', '<br>');
    if (name === 'incrementalList') {
      // It has the members of a list, and one more.
      const { fullReadQuery = {} } = member.properties ?? {};
      yield { name: `\`${path}\``, form: formatReference('list'), description };
      yield* listRows({ properties: { fullReadQuery } }, `${path}.`);
      continue;
    }
    yield { name: `\`${path}\`${mark}`, form: formatForm(member), description };
    yield* listRows(member, `${path}.`);
  }
  for (const form of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])])
    yield* listRows(form, prefix);
  if (items) yield* listRows(items, `${prefix.slice(0, -1)}[].`);
  if (typeof additionalProperties === 'object')
    yield* listRows(additionalProperties, `${prefix}*.`);
}

/** Formats a description: its paragraphs are lines. */
function formatText(description = ''): string {
  return description.replaceAll('|', '\\|');
}

function formatForm(schema: Schema): string {
  const { $ref, type, items, anyOf, oneOf, additionalProperties } = schema;
  const bound = schema.default === undefined ? '' : formatDefault(schema.default);
  if ($ref) return `${formatReference($ref)}${bound}`;
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (schema.enum)
    return `${schema.enum.map((value) => `\`${String(value)}\``).join(', ')}${bound}`;
  const forms = anyOf ?? oneOf;
  if (forms) return `${[...new Set(forms.map(formatForm))].join(' or ')}${bound}`;
  if (items) return `list of ${formatForm(items)}${bound}`;
  if (typeof additionalProperties === 'object') {
    return `map of ${formatForm(additionalProperties)}${bound}`;
  }
  return `${type ?? 'any value'}${bound}`;
}

function formatReference(ref: string): string {
  const id = ref.split('/').at(-1) ?? '';
  const title = PART_TITLES[id === 'listBehavior' ? 'behavior' : id];
  if (!title)
    return (
      { requestLocation: 'location', jsonObject: 'object', timeFormat: 'time format' }[id] ?? id
    );
  return `[${title.toLowerCase()}](#${title.toLowerCase().replaceAll(' ', '-')})`;
}

function formatDefault(value: unknown): string {
  const isEmpty = typeof value === 'object' && JSON.stringify(value).length <= 2;
  return isEmpty
    ? ''
    : `, default \`${typeof value === 'string' ? value || '""' : JSON.stringify(value)}\``;
}
