/** Limits end users to connections of their own group and consumer. */
import type { Row } from '../../database/rows.ts';
import { forbidden, type Issue } from '../../errors.ts';
import type { Call } from '../call.ts';
import { createInputIssue } from '../issues.ts';
import { byId } from '../scope.ts';

interface ConnectInput {
  groupRef: string;
  consumerRef: string;
  providerAppId?: string | null | undefined;
}

/**
 * Lists issues with members that an end user may not set. Returns none for other callers. Display names are allowed,
 * because the refs restrict them to the caller's own group and consumer. The issues don't reveal whether other groups or
 * consumers exist.
 */
export async function listForeignParties(call: Call, input: ConnectInput): Promise<Issue[]> {
  const { viewer } = call;
  if (viewer.kind !== 'END_USER') return [];
  const [[group], [consumer]] = await Promise.all([
    byId('Group')(call, [viewer.groupId]),
    byId('Consumer')(call, [viewer.consumerId]),
  ]);
  const rules: [name: keyof ConnectInput, isMet: boolean, detail: string][] = [
    ['groupRef', input.groupRef === group?.groupRef, "must be the token's group."],
    ['consumerRef', input.consumerRef === consumer?.consumerRef, "must be the token's consumer."],
    ['providerAppId', input.providerAppId == null, "can't be set by end users."],
  ];
  return rules
    .filter(([, isMet]) => !isMet)
    .map(([name, , detail]) => createInputIssue(['input', name], detail, input[name]));
}

/**
 * Throws FORBIDDEN for an end user who did not connect the account. The whole group uses it, but only the consumer who
 * connected it may change or delete it.
 */
export function refuseOtherConsumers(
  { viewer }: Call,
  { consumerId }: Pick<Row<'Connection'>, 'consumerId'>,
  action: string,
): void {
  if (viewer.kind !== 'END_USER' || viewer.consumerId === consumerId) return;
  throw forbidden(
    `The connection belongs to another consumer of the group. Only that consumer may ${action}.`,
  );
}
