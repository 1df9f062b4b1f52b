/** What the two types of destinations may have: a webhook is posted to, a stream is read. */
import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import type { Transaction } from '../../database/transaction.ts';
import { type Issue, invalidInput } from '../../errors.ts';
import type { Call } from '../call.ts';
import { OpenedInput } from '../opened-input.ts';
import { targetUrl } from './target-url.ts';

type Destination = Pick<Row<'Destination'>, 'type'>;

interface Given {
  url?: string | undefined;
  headers?: unknown;
  keepHeaders?: unknown;
  status?: string | undefined;
}

/** Of a new destination: a webhook needs a URL. */
export function creationIssues(call: Call, given: Destination & Given): Issue[] {
  if (given.type === 'STREAM') return webhookMembers(given);
  if (given.url !== undefined) return urlIssues(call, given);
  const detail = 'is missing: a webhook needs it.';
  return [{ kind: 'missing-value', in: 'body', name: 'input.url', detail }];
}

/** Which URLs are allowed depends on the configuration, which a schema does not know. */
export function urlIssues(call: Call, { url }: Given): Issue[] {
  return new OpenedInput(z.object({ url: targetUrl(call).optional() }), { url }).issues;
}

/** Throws BAD_USER_INPUT that names all that a stream can't have. */
export function refuseForStream({ type }: Destination, given: Given): void {
  const issues = type === 'STREAM' ? webhookMembers(given) : [];
  if (issues.length > 0) throw invalidInput(issues);
}

/** Null is no value: it leaves a stream as it is. */
function webhookMembers({ url, headers, keepHeaders, status }: Given): Issue[] {
  return Object.entries({ url, headers, keepHeaders, status }).flatMap(([name, value]) =>
    value == null
      ? []
      : [{ in: 'body', name: `input.${name}`, detail: 'is for webhooks: a stream sends nothing.' }],
  );
}

/** From here on it takes messages. Call it in the transaction that makes its destination. */
export async function openStream(
  tx: Transaction,
  { projectId, id: destinationId }: Pick<Row<'Destination'>, 'projectId' | 'id'>,
): Promise<void> {
  await tx.streamLog.create({ data: { projectId, destinationId } });
}
