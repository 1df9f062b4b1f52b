/**
 * How a destination appears in project documents: with the names of its headers, and with `***` in place of each value in
 * the query of its URL. A plan asks for these values.
 */

import { z } from 'zod';
import { DestinationStatus, DestinationType } from '../../../database/generated/enums.ts';
import type { Row } from '../../../database/statements/tables.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { maskUrl } from '../../../deliveries/target-secrets.ts';
import { type Issue, invalid, invalidInput } from '../../../kernel/errors.ts';
import { MASK } from '../../../kernel/secrets.ts';
import type { Call } from '../../access/call.ts';
import {
  getRowId,
  type ItemChange,
  type ItemChanges,
  listNeeds,
  type PlanTransaction,
} from '../../access/item-change.ts';
import { type CanonicalItem, parseCanonicalItem, toCanonicalItem } from '../../base/canonical.ts';
import { orDefault, orElse } from '../../base/input-schemas.ts';
import { checkRules, createInputIssue, createRuleIssue } from '../../base/issues.ts';
import { destinationName } from '../../base/names.ts';
import { toStoredWord } from '../../base/resource.ts';
import {
  createDestination,
  deleteDestination,
  insertDestination,
  removeDestination,
  reviseDestination,
  updateDestination,
} from '../destination.ts';
import { findHostIssue, findUrlIssue, listTypeIssues } from '../destination-rules.ts';
import { maskTarget } from '../destination-secret.ts';
import { findHeaderNameIssue, findHeaderValueIssue, HEADERS_MAX } from '../target-headers.ts';

/**
 * A destination in a document. Exports, plans and their application use all members. A member that is new here must have
 * the name of the row's column and of the member of the mutations.
 */
export const destinationItem = z
  .object({
    name: destinationName.describe('1 to 64 letters, digits and dashes; unique in the project.'),
    type: z
      .enum(DestinationType)
      .meta({ id: 'DestinationType' })
      .describe('`webhook`: messages are posted to `url`. `stream`: clients read them.'),
    url: z
      .string()
      .optional()
      .describe('For a webhook: the URL, with `***` in place of each value of its query.'),
    headers: orElse(z.array(z.string()).max(HEADERS_MAX), []).describe(
      'For a webhook: the names of the headers that are sent with every message. Their values are secrets.',
    ),
    status: orDefault(
      z.enum(DestinationStatus).meta({ id: 'DestinationStatus' }),
      'ENABLED',
    ).describe('For a webhook: `disabled` keeps its messages pending. Default: `enabled`.'),
  })
  .superRefine(checkRules(listRuleIssues));

type DestinationItem = z.output<z.ZodObject<(typeof destinationItem)['shape']>>;

function* listRuleIssues({ url, headers, status, ...input }: DestinationItem) {
  const maskedUrl = url === undefined ? undefined : maskUrl(url);
  if (url !== maskedUrl) {
    yield createRuleIssue(
      ['url'],
      'must have `***` in place of each value of its query, which is a secret.',
    );
  }
  yield* listTypeIssues({
    ...input,
    url: maskedUrl?.replace(/\*\*\*(?=&|$)/g, ''),
    headers: headers.length > 0 ? headers : undefined,
    status: status === 'ENABLED' ? undefined : status,
  });
  const previousNames = new Set<string>();
  for (const [index, name] of headers.entries()) {
    const issue = findHeaderNameIssue(name, previousNames);
    if (issue) yield createRuleIssue(['headers', index], issue, { showsValue: true });
    previousNames.add(name.toLowerCase());
  }
}

export function toCanonicalDestination(item: DestinationItem): CanonicalItem {
  const headers = item.headers.map((name) => name.toLowerCase());
  return toCanonicalItem(destinationItem, { ...item, headers });
}

export async function readDestinations(
  client: Pick<Transaction, 'destination'>,
  projectId: string,
): Promise<{ id: string; item: CanonicalItem }[]> {
  const rows = await client.destination.findMany({ where: { projectId }, orderBy: { id: 'asc' } });
  return rows.map((row) => ({ id: row.id, item: toItemOfRow(row) }));
}

function toItemOfRow(row: Row<'Destination'>): CanonicalItem {
  const { url, headers } = maskTarget(row);
  const names = Object.keys(headers ?? {}).map((name) => name.toLowerCase());
  return toCanonicalItem(destinationItem, { ...row, url, headers: names });
}

/** Lists the issues that depend on the stored destination and on the settings of the server. */
export function* listDestinationItemIssues(
  call: Call,
  { type, url }: DestinationItem,
  { path, stored }: { path: readonly PropertyKey[]; stored: CanonicalItem | undefined },
): Generator<Issue> {
  if (stored && stored.type !== toStoredWord(type)) {
    const detail = `must be ${stored.type}: the type of a destination never changes.`;
    yield createInputIssue([...path, 'type'], detail, toStoredWord(type));
  }
  const hostIssue = url === undefined || stored?.url === url ? null : findHostIssue(url, call);
  if (hostIssue) yield createInputIssue([...path, 'url'], hostIssue, url);
}

/** Matches a URL with a masked value in its query. */
const MASKED_VALUE = /=\*\*\*(&|$)/;

/** Lists the paths of the secrets that a change needs: values of new headers, and a new URL with values in its query. */
export function listDestinationSecrets({ path, before, after }: ItemChange): string[] {
  if (!after) return [];
  const { url } = after;
  const isSecretUrl =
    typeof url === 'string' && url !== before?.url && url.includes('?') && MASKED_VALUE.test(url);
  return [
    ...(isSecretUrl ? [`${path}.url`] : []),
    ...listNewHeaders({ before, after }).map((name) => `${path}.headers.${name}`),
  ];
}

function listNewHeaders({ before, after }: Pick<ItemChange, 'before' | 'after'>): string[] {
  const storedNames = listHeaders(before);
  return listHeaders(after).filter((name) => !storedNames.includes(name));
}

function listHeaders(item: CanonicalItem | null): readonly string[] {
  return (item?.headers as string[] | undefined) ?? [];
}

export const destinationChanges: ItemChanges = {
  needs: listNeeds(createDestination, updateDestination, deleteDestination),
  async put(plan, change) {
    const { call, tx, projectId } = plan;
    const {
      name,
      type,
      url: _url,
      headers: names,
      status,
      ...members
    } = parseCanonicalItem(destinationItem, change.after);
    const url = findNewUrl(plan, change);
    const headers = createNewHeaders(plan, change);
    let destinationId = plan.ids.get(change.path);
    if (destinationId === undefined) {
      const { destination } = await insertDestination(call, tx, {
        projectId,
        name,
        type,
        url,
        ...members,
        ...(names.length > 0 && { headers }),
      });
      destinationId = destination.id;
      plan.ids.set(change.path, destinationId);
      if (status === 'ENABLED') return;
      await reviseDestination(call, tx, { projectId, destinationId, status });
      return;
    }
    const haveHeadersChanged = listHeaders(change.before).join() !== names.join();
    const { afterCommit } = await reviseDestination(call, tx, {
      projectId,
      destinationId,
      url,
      ...(type === 'WEBHOOK' && { status }),
      ...members,
      ...(haveHeadersChanged && {
        headers,
        keepHeaders: names.filter((header) => headers[header] === undefined),
      }),
    });
    plan.afterCommit.push(afterCommit);
  },
  async remove({ call, tx, projectId, ids, afterCommit }, { path }) {
    const key = { projectId, destinationId: getRowId({ ids }, path) };
    afterCommit.push(await removeDestination(call, tx, key));
  },
};

/** Returns the new URL with its secret values. Undefined if the URL does not change. */
function findNewUrl({ secrets }: PlanTransaction, { path, before, after }: ItemChange) {
  const url = after?.url as string | undefined;
  if (url === undefined || url === before?.url) return undefined;
  const value = secrets.get(`${path}.url`);
  if (value === undefined) return url;
  const issue =
    findUrlIssue(value) ??
    (maskUrl(value) === url ? null : `must be ${url} with values in its query.`);
  if (issue) throw invalid(['secrets', `${path}.url`], issue);
  return value;
}

/** Returns the new headers with their secret values. */
function createNewHeaders(
  { secrets }: PlanTransaction,
  change: ItemChange,
): Record<string, string> {
  const headers = listNewHeaders(change).map((name) => {
    const path = `${change.path}.headers.${name}`;
    return { name, path, value: secrets.get(path) ?? '' };
  });
  const issues = headers.flatMap(({ path, value }) => {
    const issue = value === MASK ? 'is a mask and not a value.' : findHeaderValueIssue(value);
    return issue ? createInputIssue(['secrets', path], issue) : [];
  });
  if (issues.length > 0) throw invalidInput(issues);
  return Object.fromEntries(headers.map(({ name, value }) => [name, value]));
}
