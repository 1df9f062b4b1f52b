/** What the two types of destinations may have: a webhook is posted to, a stream is read. */
import type { Row } from '../../database/rows.ts';
import type { Transaction } from '../../database/transaction.ts';
import { invalid } from '../../errors.ts';
import type { Call } from '../call.ts';
import { broken, issueAt, refuseIssues } from '../issues.ts';
import { problemWithHost, problemWithUrl } from './target-url.ts';

type Destination = Pick<Row<'Destination'>, 'type'>;

interface Given {
  url?: string | undefined;
  headers?: unknown;
  keepHeaders?: unknown;
  status?: string | undefined;
}

/** The rules of a new destination: a webhook needs a URL, and a stream has none. */
export function* brokenByType(given: Destination & Given) {
  if (given.type === 'STREAM') {
    for (const name of webhookMembers(given)) yield broken([name], FOR_WEBHOOKS);
  } else if (given.url === undefined) {
    yield broken(['url'], 'is missing: a webhook needs it.');
  } else {
    yield* brokenByUrl(given);
  }
}

/** The rules of a URL that do not depend on settings. */
export function* brokenByUrl({ url }: Given) {
  const problem = url === undefined ? null : problemWithUrl(url);
  if (problem) yield broken(['url'], problem, { showsValue: !holdsSecret(url) });
}

/** Passwords and values of a query are not repeated. */
function holdsSecret(url = ''): boolean {
  return /[@?]/.test(url);
}

/** Throws BAD_USER_INPUT if the settings of the server do not allow the URL. */
export function refuseHost(call: Call, { url }: Given): void {
  const problem = url === undefined ? null : problemWithHost(url, call);
  if (problem) throw invalid('input.url', problem, holdsSecret(url) ? undefined : url);
}

/** Throws BAD_USER_INPUT that names every member that a stream can't have. */
export function refuseForStream({ type }: Destination, given: Given): void {
  if (type !== 'STREAM') return;
  refuseIssues(webhookMembers(given).map((name) => issueAt(['input', name], FOR_WEBHOOKS)));
}

const FOR_WEBHOOKS = 'is for webhooks: a stream sends nothing.';

/** The names of given members that only webhooks have. Null counts as not given. */
function webhookMembers({ url, headers, keepHeaders, status }: Given): string[] {
  return Object.entries({ url, headers, keepHeaders, status }).flatMap(([name, value]) =>
    value == null ? [] : [name],
  );
}

/** Opens the log of a stream: from then on it takes messages. Must run in the transaction that creates the destination. */
export async function openStream(
  tx: Transaction,
  { projectId, id: destinationId }: Pick<Row<'Destination'>, 'projectId' | 'id'>,
): Promise<void> {
  await tx.streamLog.create({ data: { projectId, destinationId } });
}
