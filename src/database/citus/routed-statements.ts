/**
 * Which statements run where their rows are (docs/decisions/034-citus.md). Citus plans reads and Prisma's own changes by itself;
 * what it refuses is a change written by hand that is more than one simple step, a list with its links, and a look at all
 * projects.
 */
import pg from 'pg';
import { Prisma } from '../generated/client.ts';
import type { Table } from '../tables.ts';
import { placeOf, type TablePlace } from './table-places.ts';

export type Route =
  /** On the shards of these projects; `of` gives the values as those of one shard see them. */
  | { projects: string[]; of: (projects: readonly string[]) => unknown[] }
  /** On all shards, each by itself. */
  | 'everywhere';

/** The mark of a statement that asks all projects. */
const ALL_PROJECTS = /^\s*\/\* all projects:/;
const PROJECT = /"projectId"\s*=\s*(?:any\s*\(\s*)?\$(\d+)\b/i;
/** Rows that are made by the statement itself. */
const MADE_PROJECT = /\$(\d+) as "projectId"/;
/** As `isAsked` says it. */
const SOME_PROJECTS = /"projectId" = any\(\$(\d+)::text\[\]\)/;
const NAMED = /"(\w+)"/g;
const CHANGED = /\b(?:insert\s+into|update|delete\s+from)\s+(?:"public"\.)?"(\w+)"/gi;
/** As Prisma writes it. Its upserts are more than Citus takes: they cast texts to enums. */
const BY_PRISMA = '"public".';
const UPSERT = /\bon conflict\b/i;
const HARD =
  /\b(?:insert\s+into|update|delete\s+from|for\s+(?:no\s+key\s+)?(?:update|share)|recursive|lateral)\b/i;
/** Rows that are asked for by their keys, each with its project: in arrays, a column each. */
const ASKED_ROWS = /\bunnest\(([^()]*)\)\s+(?:with\s+ordinality\s+)?as\s+"?\w+"?\s*\(([^()]*)\)/gi;
/** Rows that are given as JSON tell their project themselves. */
const GIVEN_ROWS = /\bjsonb?_to_record(?:set)?\(\$1\b/;
const PARAMETER = /\$(\d+)/g;

const TABLES = new Map<string, TablePlace>(
  Object.values(Prisma.ModelName).map((table: Table) => [table, placeOf(table)]),
);

/** How a text is to be run, whatever its values are: the projects are in one of them, or in the rows of one that is JSON. */
type Plan = 'citus' | 'all nodes' | 'everywhere' | { place: number; isJson: boolean };

const PLANS = new Map<string, Plan>();
/** The gateway has a few hundred texts; this only bounds what a mistake could add. */
const PLANS_MAX = 2_000;

/** Null for what Citus plans. */
export function routeOf(text: string, values: unknown[]): Route | null {
  const plan = knownPlanOf(text);
  if (plan === 'citus' || plan === 'all nodes') return null;
  return plan === 'everywhere' ? plan : routeBy(plan, values);
}

/** Whether Citus changes rows that every node has: all do it together, or none. */
export function isForAllNodes(text: string): boolean {
  return knownPlanOf(text) === 'all nodes';
}

function knownPlanOf(text: string): Plan {
  let plan = PLANS.get(text);
  if (plan === undefined) {
    plan = planOf(text);
    if (PLANS.size < PLANS_MAX) PLANS.set(text, plan);
  }
  return plan;
}

function planOf(text: string): Plan {
  const places = [...text.matchAll(NAMED)].map(([, name = '']) => TABLES.get(name));
  if (changesAllNodes(text)) return 'all nodes';
  if (!places.includes('distributed')) return 'citus';
  if (ALL_PROJECTS.test(text)) {
    const [, some] = SOME_PROJECTS.exec(text) ?? [];
    return some ? { place: Number(some) - 1, isJson: false } : 'everywhere';
  }
  const asked = placeOfAsked(text);
  if (asked !== null) return { place: asked, isJson: false };
  if (!HARD.test(text) || (text.includes(BY_PRISMA) && !UPSERT.test(text))) return 'citus';
  if (GIVEN_ROWS.test(text)) return { place: 0, isJson: true };
  const [, bound] = PROJECT.exec(text) ?? MADE_PROJECT.exec(text) ?? [];
  return bound ? { place: Number(bound) - 1, isJson: false } : 'citus';
}

/** Which value has the projects of the rows that are asked for. */
function placeOfAsked(text: string): number | null {
  for (const [, arrays = '', columns = ''] of text.matchAll(ASKED_ROWS)) {
    const index = columns.split(',').findIndex((column) => column.includes('"projectId"'));
    const [, number] = /\$(\d+)/.exec(arrays.split(',')[index] ?? '') ?? [];
    if (number) return Number(number) - 1;
  }
  return null;
}

/** Projects of other shards have no rows on one: in rows and arrays their places are kept, with the name of none. */
function routeBy({ place, isJson }: { place: number; isJson: boolean }, values: unknown[]): Route {
  const given = values[place];
  if (isJson) {
    const rows: { projectId?: string }[] = JSON.parse(String(given));
    return {
      projects: distinct(rows.map(({ projectId }) => projectId)),
      of: (some) =>
        values.with(
          place,
          JSON.stringify(rows.filter((row) => some.includes(String(row.projectId)))),
        ),
    };
  }
  if (!Array.isArray(given)) return { projects: distinct([given]), of: () => values };
  return {
    projects: distinct(given),
    of: (some) =>
      values.with(
        place,
        given.map((project) => (some.includes(project) ? project : '')),
      ),
  };
}

function distinct(projects: unknown[]): string[] {
  return [...new Set(projects.filter((project) => typeof project === 'string'))];
}

/** Every node has the rows of such tables: only Citus changes them on all. */
function changesAllNodes(text: string): boolean {
  return [...text.matchAll(CHANGED)].some(([, name = '']) => TABLES.get(name) === 'reference');
}

/** Values take their places as constants, which have the types that parameters would have. */
export function boundText(text: string, values: readonly unknown[]): string {
  return text.replace(PARAMETER, (_, place) => literal(values[Number(place) - 1]));
}

function literal(value: unknown): string {
  const prepared: unknown = (pg as unknown as Utils).utils.prepareValue(value);
  if (prepared === null || prepared === undefined) return 'null';
  if (Buffer.isBuffer(prepared)) return `'\\x${prepared.toString('hex')}'`;
  return pg.escapeLiteral(String(prepared));
}

/** How pg sends values; its types don't tell. */
interface Utils {
  utils: { prepareValue(value: unknown): unknown };
}
