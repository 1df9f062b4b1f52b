/** The schema of the last release, with which the current one is compared. */
import { join } from 'node:path';
import { type ASTNode, type BreakingChange, parse, print, visit } from 'graphql';

export const RELEASED_SCHEMA = join('test', 'contract', 'released.graphql');

const HEAD =
  '# The schema of the last release, without descriptions. `npm run release` writes it.\n\n';

/** Returns the content of RELEASED_SCHEMA for this schema.graphql. */
export function formatReleasedSchema(schema: string): string {
  const withoutDescriptions = visit(parse(schema), {
    enter: (node: ASTNode) =>
      'description' in node && node.description ? { ...node, description: undefined } : undefined,
  });
  return `${HEAD}${print(withoutDescriptions)}\n`;
}

/** The patterns of the descriptions of graphql-js, each with the name that the description contains. */
const NAME_PATTERNS: [description: RegExp, name: string][] = [
  [/^(\w+) was removed from (?:enum|union) type (\w+)\.$/, '$2.$1'],
  [/^A required field (\w+) on input type (\w+) was added\.$/, '$2.$1'],
  [/^A required arg \w+ on (?:directive )?([\w.]+) was added\.$/, '$1'],
  [/^(?:\w+|Repeatable flag) was removed from (\w+)\.$/, '$1'],
  [/^Standard scalar (\w+) .*$/, '$1'],
  [/^([\w.]+) .*$/, '$1'],
];

/** Returns the name that a breaking change must have in the changelog: `Type.member`, or `Type`. */
export function getChangeName({ description }: BreakingChange): string {
  const [pattern, name] = NAME_PATTERNS.find(([candidate]) => candidate.test(description)) ?? [
    /$/,
    '',
  ];
  return description.replace(pattern, name);
}

/** Returns the names that the text does not contain in backticks. `Type.*` in the text stands for every member of a type. */
export function listUnnamed(names: readonly string[], text: string): string[] {
  const isNamed = (name: string) => text.includes(`\`${name}\``);
  return [...new Set(names)].filter((name) => {
    const [type, member] = name.split('.');
    return !isNamed(name) && !(member && isNamed(`${type}.*`));
  });
}
